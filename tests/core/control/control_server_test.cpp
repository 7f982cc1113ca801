#include <sys/socket.h>
#include <sys/stat.h>

#include <unistd.h>
#include <fstream>
#include <list>

#include "core/control/control_server.h"
#include "core/control/messages.h"
#include "core/control/socket_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

using namespace std::chrono_literals;

class Peer {
  public:
    explicit Peer(const std::filesystem::path& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        const sockaddr_un address = socketAddress(path).value();
        EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    ~Peer() { ::close(socket_); }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send(const std::string& bytes) {
        ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    std::string receive() {
        char buffer[70000];
        const ssize_t got = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
        return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : std::string();
    }
    void sendNoMore() { ::shutdown(socket_, SHUT_WR); }
    bool isClosed() {
        char byte;
        return ::recv(socket_, &byte, 1, MSG_DONTWAIT) == 0;
    }

  private:
    int socket_;
};

struct Scene {
    TemporaryFolder folder;
    ControlServer server{folder / "s.sock"};
    int handled = 0;

    void serve() {
        for (int i = 0; i < 4; ++i)
            server.serve(
                [this](const Request& request) {
                    ++handled;
                    return Reply{"", true, "did " + commandName(request.command)};
                },
                20ms);
    }
};

TEST(ControlServer, AnswersEachRequestWithItsId) {
    Scene scene;
    Peer peer(scene.server.path());
    peer.send(formatRequest({Command::pause, "a"}) + "\n" + formatRequest({Command::stop, "b"}) + "\n");
    scene.serve();
    const std::string replies = peer.receive();
    EXPECT_NE(replies.find(R"({"id":"a","ok":true,"message":"did pause"})"), std::string::npos) << replies;
    EXPECT_NE(replies.find(R"("id":"b")"), std::string::npos) << replies;
    EXPECT_EQ(scene.handled, 2);
}

TEST(ControlServer, ABadMessageGetsAnErrorAndTheNextIsServed) {
    Scene scene;
    Peer peer(scene.server.path());
    peer.send(std::string("nonsense\n\x00\xff\n", 12) + formatRequest({Command::status, "c"}) + "\n");
    scene.serve();
    const std::string replies = peer.receive();
    EXPECT_NE(replies.find("\"ok\":false"), std::string::npos);
    EXPECT_NE(replies.find("\"id\":\"c\",\"ok\":true"), std::string::npos);
}

TEST(ControlServer, AnEndlessLineIsCutOff) {
    Scene scene;
    Peer peer(scene.server.path());
    Peer good(scene.server.path());
    for (int i = 0; i < 40; ++i) {
        peer.send(std::string(4096, 'x'));
        scene.serve();
    }
    EXPECT_NE(peer.receive().find("too long"), std::string::npos);
    EXPECT_TRUE(peer.isClosed());
    good.send(formatRequest({Command::status, "d"}) + "\n");
    scene.serve();
    EXPECT_NE(good.receive().find("\"id\":\"d\""), std::string::npos);
}

TEST(ControlServer, PeersThatLeaveAreForgotten) {
    Scene scene;
    for (int i = 0; i < 100; ++i) {
        Peer peer(scene.server.path());
        peer.send("{\"command\":");
        scene.serve();
    }
    Peer last(scene.server.path());
    last.send(formatRequest({Command::status, "e"}) + "\n");
    scene.serve();
    EXPECT_NE(last.receive().find("\"id\":\"e\""), std::string::npos);
}

TEST(ControlServer, IdlePeersDoNotLockOthersOut) {
    Scene scene;
    std::list<Peer> idle;
    for (int i = 0; i < 20; ++i) {
        idle.emplace_back(scene.server.path());
        scene.serve();
    }
    Peer last(scene.server.path());
    last.send(formatRequest({Command::status, "f"}) + "\n");
    scene.serve();
    EXPECT_NE(last.receive().find("\"id\":\"f\""), std::string::npos);
}

// A payload larger than the socket's buffer is sent in parts, while other peers are served.
TEST(ControlServer, ALargePayloadArrivesWhole) {
    Scene scene;
    const std::string payload = [] {
        std::string bytes(3'000'000, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<char>(i * 31 >> 3);
        return bytes;
    }();
    Peer slow(scene.server.path()), other(scene.server.path());
    slow.send(formatRequest({Command::head, "big"}) + "\n");
    std::string got, others;
    const auto serve = [&] {
        scene.server.serve(
            [&](const Request& request) {
                return request.command == Command::head ? Reply{"", true, "", payload}
                                                        : Reply{"", true, "small"};
            },
            20ms);
    };
    for (int i = 0; i < 3; ++i)
        serve();
    other.send(formatRequest({Command::status, "o"}) + "\n");
    for (int i = 0; i < 2000 && got.size() < payload.size(); ++i) {
        serve();
        got += slow.receive();
        others += other.receive();
    }
    EXPECT_NE(others.find("small"), std::string::npos);
    const std::size_t end = got.find('\n');
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(parseReply(got.substr(0, end)).payload_size, payload.size());
    EXPECT_TRUE(got.substr(end + 1) == payload);
}

// Several peers send their lines one byte at a time, interleaved.
TEST(ControlServer, SlowPeersAreServedWhenTheirLineIsWhole) {
    Scene scene;
    std::list<Peer> peers;
    for (int i = 0; i < 5; ++i)
        peers.emplace_back(scene.server.path());
    const std::string line = formatRequest({Command::status, "slow"}) + "\n";
    for (const char byte : line) {
        for (Peer& peer : peers) {
            EXPECT_EQ(peer.receive(), "");
            peer.send({byte});
        }
        scene.serve();
    }
    for (Peer& peer : peers)
        EXPECT_NE(peer.receive().find("\"id\":\"slow\""), std::string::npos);
}

// Like `echo … | nc -U -N`: a peer that has closed its sending side still reads until the answer is complete.
TEST(ControlServer, APeerThatHalfClosesGetsItsWholeAnswer) {
    Scene scene;
    const std::string payload(3'000'000, 'p');
    Peer peer(scene.server.path());
    peer.send(formatRequest({Command::status, "1"}) + "\n" + formatRequest({Command::head, "2"}) + "\n" +
              formatRequest({Command::status, "3"}) + "\n");
    peer.sendNoMore();
    std::string got;
    int visits = 0;
    for (; visits < 3000 && got.find("\"id\":\"3\"") == std::string::npos; ++visits) {
        scene.server.serve(
            [&](const Request& request) {
                return Reply{"", true, "", request.command == Command::head ? payload : std::string()};
            },
            20ms);
        got += peer.receive();
    }
    EXPECT_LT(visits, 3000);
    EXPECT_GT(got.size(), payload.size());
    EXPECT_TRUE(peer.isClosed());
    for (const char* id : {"\"id\":\"1\"", "\"id\":\"2\"", "\"id\":\"3\""})
        EXPECT_NE(got.find(id), std::string::npos) << id;
    // A peer that has closed entirely is dropped, although an answer is waiting for it.
    {
        Peer gone(scene.server.path());
        gone.send(formatRequest({Command::head, "4"}) + "\n");
        scene.server.serve([&](const Request&) { return Reply{"", true, "", payload}; }, 20ms);
    }
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = open_files();
    scene.serve();
    EXPECT_EQ(open_files(), before - 1);
}

// Peers that send requests without end and never read: each visit answers only some of them, and a peer is
// dropped when too much output is pending for it. Other peers are still answered at the next visit.
TEST(ControlServer, FloodsHoldUpNobody) {
    Scene scene;
    std::list<Peer> floods;
    for (int i = 0; i < 4; ++i)
        floods.emplace_back(scene.server.path());
    std::string many;
    for (int i = 0; i < 500; ++i)
        many += formatRequest({Command::status, std::to_string(i)}) + "\n";
    for (int round = 0; round < 40; ++round) {
        for (Peer& flood : floods)
            flood.send(many);
        Peer good(scene.server.path());
        good.send(formatRequest({Command::status, "good"}) + "\n");
        const int before = scene.handled;
        scene.serve();
        EXPECT_LE(scene.handled - before, 4 * (4 * 64 + 1));
        EXPECT_NE(good.receive().find("\"id\":\"good\""), std::string::npos) << round;
    }
}

TEST(ControlServer, IsForItsOwnerAloneAndLeavesNothing) {
    const TemporaryFolder folder;
    {
        const ControlServer server(folder / "s.sock");
        struct stat info {};
        ASSERT_EQ(::stat(server.path().c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777, 0600U);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "s.sock"));
    expectError(ErrorKind::disk, "too long", [&] { ControlServer(folder / std::string(200, 'x')); });
}

TEST(ControlFolder, SocketsOfKilledTrainersAreRemoved) {
    const TemporaryFolder folder;
    ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
    const ControlServer alive(controlFolder() / "1.sock");
    const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const std::filesystem::path left_over = controlFolder() / "2147483646.sock";
    const sockaddr_un address = socketAddress(left_over).value();
    ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(dead);
    controlSocketPath();
    EXPECT_TRUE(std::filesystem::exists(alive.path()));
    EXPECT_FALSE(std::filesystem::exists(left_over));
    ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(ControlFolder, ASocketIsOursOnlyInAFolderThatOnlyWeMayEnter) {
    const TemporaryFolder folder;
    ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
    EXPECT_TRUE(isOwnControlSocket(controlSocketPath()));
    EXPECT_TRUE(isOwnControlSocket(controlFolder() / "4711.sock"));
    for (const char* name : {"bus", "bus.sock", "4711", ".sock"})
        EXPECT_FALSE(isOwnControlSocket(controlFolder() / name)) << name;
    std::ofstream(folder / "roper-lab/4712.sock") << "no socket";
    std::filesystem::create_symlink("/run/other.socket", folder / "roper-lab/4713.sock");
    EXPECT_FALSE(isOwnControlSocket(controlFolder() / "4712.sock"));
    EXPECT_FALSE(isOwnControlSocket(controlFolder() / "4713.sock"));
    std::filesystem::create_directory(folder / "other");
    std::filesystem::permissions(folder / "other", std::filesystem::perms(0700));
    EXPECT_FALSE(isOwnControlSocket(folder / "other/4711.sock"));
    EXPECT_FALSE(isOwnControlSocket("roper-lab/4711.sock"));
    EXPECT_FALSE(isOwnControlSocket(""));
    std::filesystem::create_directory(folder / "elsewhere");
    std::filesystem::create_directory_symlink(folder / "roper-lab", folder / "elsewhere/roper-lab");
    EXPECT_FALSE(isOwnControlSocket(folder / "elsewhere/roper-lab/4711.sock"));
    std::filesystem::permissions(folder / "roper-lab", std::filesystem::perms(0750));
    EXPECT_FALSE(isOwnControlSocket(folder / "roper-lab/4711.sock"));
    ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(ControlFolder, MustBelongToUsAlone) {
    const TemporaryFolder folder;
    ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
    EXPECT_EQ(controlFolder(), folder / "roper-lab");
    std::filesystem::permissions(folder / "roper-lab", std::filesystem::perms(0755));
    expectError(ErrorKind::disk, "0700", [] { controlFolder(); });
    ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(Messages, ReadBackWhatTheyWrite) {
    for (const Command command : {Command::status, Command::pause, Command::resume, Command::stop,
                                  Command::checkpoint, Command::head, Command::maps, Command::generate}) {
        const Request request = parseRequest(formatRequest({command, "7\n\""}));
        EXPECT_EQ(request.command, command);
        EXPECT_EQ(request.id, "7\n\"");
    }
    const Request head = parseRequest(formatRequest({Command::head, "8", 2, 5, "?d=1\"ü"}));
    EXPECT_EQ(head.layer, 2);
    EXPECT_EQ(head.head, 5);
    Request on{Command::generate, "9"};
    on.text = "?d=";
    on.count = 7;
    on.temperature = 0.5;
    on.seed = 12;
    const Request again = parseRequest(formatRequest(on));
    EXPECT_EQ(again.text, "?d=");
    EXPECT_EQ(again.count, 7);
    EXPECT_EQ(again.temperature, 0.5);
    EXPECT_EQ(again.seed, 12);
    EXPECT_EQ(head.text, "?d=1\"ü");
    EXPECT_EQ(parseReply(formatReply({"8", true, "", std::string(1234, '\0')})).payload_size, 1234U);
    const Reply reply = parseReply(formatReply({"7", false, "no\nü"})).reply;
    EXPECT_FALSE(reply.ok);
    EXPECT_EQ(reply.message, "no\nü");
    EXPECT_EQ(formatReply({"", true, "two\nlines"}).find('\n'), std::string::npos);
}

TEST(Messages, NonsenseIsRefusedWithAReason) {
    const auto refused = [](const std::string& line, const std::string& part) {
        expectError(ErrorKind::usage, part, [&] { parseRequest(line); });
    };
    refused("", "not JSON");
    refused("{", "not JSON");
    refused("[]", "not a JSON object");
    refused("{}", "unknown command");
    refused("{\"command\":\"pausee\"}", "did you mean \"pause\"");
    refused("{\"command\":7}", "must be text");
    refused("{\"command\":\"pause\",\"id\":7}", "must be text");
    refused(std::string(200, '['), "nested too deeply");
    refused(std::string(kMaxMessageLineBytes + 1, ' '), "longer");
    refused("{\"command\":\"head\",\"layer\":-1}", "\"layer\" must be a whole number");
    refused("{\"command\":\"head\",\"head\":1e9}", "\"head\" must be a whole number");
    refused("{\"command\":\"head\",\"text\":5}", "must be text");
    refused("{\"command\":\"continue\",\"count\":100000}", "\"count\" must be a whole number");
    refused("{\"command\":\"continue\",\"temperature\":-1}", "from 0 to 100");
    refused("{\"command\":\"continue\",\"temperature\":\"hot\"}", "from 0 to 100");
    expectError(ErrorKind::usage, "\"payload\" must be",
                [] { parseReply("{\"ok\":true,\"payload\":99999999999}"); });
    expectError(ErrorKind::usage, "must contain \"ok\"", [] { parseReply("{}"); });
}

TEST(Messages, FilesDescribeTheModelAsItWas) {
    ModelDescription model;
    model.step = 30;
    model.position = "roper";
    model.value_rotation_strength = 0.4;
    model.rotation.rotated_part = RotatedPart::last;
    std::map<std::string, std::string> metadata = model.toMetadata();
    const auto readBack = [&] {
        return ModelDescription::fromFile(
            SafetensorsFile::parse(formatSafetensors({}, metadata), "an answer"));
    };
    EXPECT_EQ(readBack().step, 30);
    EXPECT_EQ(readBack().value_rotation_strength, 0.4);
    EXPECT_EQ(readBack().rotation.rotated_part, RotatedPart::last);
    metadata.erase("value_rotation_strength");  // as written by earlier versions
    metadata.erase("rotated_part");
    EXPECT_EQ(readBack().rotation.rotated_part, RotatedPart::first);
    EXPECT_EQ(readBack().value_rotation_strength, 1);
}

TEST(LineFramer, CutsWhereverTheBytesComeApart) {
    LineFramer framer;
    EXPECT_TRUE(framer.add("on")->empty());
    EXPECT_EQ(*framer.add("e\ntwo\nthr"), (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(*framer.add("ee\n\n"), (std::vector<std::string>{"three", ""}));
}

TEST(LineFramer, GivesUpOnALineWithoutEnd) {
    LineFramer framer;
    const std::string part(4096, 'x');
    bool gave_up = false;
    for (std::size_t sent = 0; sent <= kMaxMessageLineBytes + part.size() && !gave_up; sent += part.size())
        gave_up = !framer.add(part).has_value();
    EXPECT_TRUE(gave_up);
}

}  // namespace
}  // namespace roper
