#include "core/control/messages.h"

#include "tests/support/expect_error.h"

namespace roper {
namespace {

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
