"""A Slurm cluster on this machine: a controller and several nodes as ordinary processes, with its own munge daemon."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

SYSTEM = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldTimeout=10
SlurmdTimeout={node_timeout}
KillWait=10
MinJobAge=10
InactiveLimit=0
SchedulerParameters=sched_interval=1,sched_min_interval=200000
MaxArraySize={most_elements}
MaxJobCount=20000
"""


def why_not():
    """Why no cluster can be started here, or None."""
    for program in ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scontrol"):
        if shutil.which(program, path=SYSTEM["PATH"]) is None:
            return f"no {program}: Debian's packages slurm-wlm and munge have it"
    return None


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class SlurmCluster:
    def __init__(self, folder, nodes=3, cpus=1, most_elements=1001, node_timeout=8):
        self.folder = Path(folder)
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        for part in ("state", "spool", "munge"):
            (self.folder / part).mkdir(parents=True)
        controller, *ports = free_ports(nodes + 1)
        text = CONFIGURATION.format(folder=self.folder, host=socket.gethostname(), user=getpass.getuser(), controller_port=controller,
                                    most_elements=most_elements, node_timeout=node_timeout)
        for name, port in zip(self.nodes, ports):
            text += f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=500 State=UNKNOWN\n"
        text += f"PartitionName=main Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(text)
        self.env = {**SYSTEM, "SLURM_CONF": str(self.configuration)}

    def start(self):
        munge = self.folder / "munge"
        munge.chmod(0o700)
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o600)
        self._daemon("munged", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                     f"--log-file={munge}/log", f"--seed-file={munge}/seed", "--force")
        self._daemon("slurmctld", "-c")
        for node in self.nodes:
            self.start_node(node)
        self._wait(lambda: self.call("sinfo", "--noheader", "--format=%T").split() == ["idle"], 60)

    def _daemon(self, *command):
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]} does not start: {done.stderr.strip()}")

    def _wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                log = (self.folder / "slurmctld.log").read_text()[-3000:]
                raise RuntimeError(f"the cluster does not come up:\n{log}")
            time.sleep(0.2)

    def call(self, *command):
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=60).stdout

    def start_node(self, node):
        self._daemon("slurmd", "-N", node, "-c")

    def pid_of(self, node):
        return int((self.folder / f"slurmd-{node}.pid").read_text())

    def kill_node(self, node):
        """Kills a whole node at once: its daemon, those of its jobs, and their children."""
        self._kill_with_children([self.pid_of(node)])
        # A daemon that is just starting opens its log a moment later.
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < 1:
            steps = [pid for pid in self._pids_of("slurmstepd") if self._writes_log_of(pid, node)]
            if steps:
                self._kill_with_children(steps)
                quiet_since = time.monotonic()
            time.sleep(0.05)

    def _pids_of(self, command):
        return [int(pid) for pid in self.call("ps", "-C", command, "-o", "pid=").split()]

    def _kill_with_children(self, doomed):
        children = {}
        for line in self.call("ps", "-eo", "pid=,ppid=").splitlines():
            pid, parent = map(int, line.split())
            children.setdefault(parent, []).append(pid)
        for pid in doomed:  # grows during the loop
            doomed += children.get(pid, [])
        for pid in doomed:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _writes_log_of(self, pid, node):
        try:
            return any(os.readlink(link) == str(self.folder / f"slurmd-{node}.log") for link in Path(f"/proc/{pid}/fd").iterdir())
        except OSError:
            return False

    def stop(self):
        self.call("scancel", "--full", "--user", getpass.getuser())
        for node in self.nodes:
            try:
                self.kill_node(node)
            except (OSError, ValueError):
                pass  # it is already dead
        for path in (self.folder / "slurmctld.pid", self.folder / "munge" / "pid"):
            try:
                os.kill(int(path.read_text()), signal.SIGKILL)
            except (OSError, ValueError):
                pass
