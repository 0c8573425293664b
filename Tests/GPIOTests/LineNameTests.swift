import GPIO
import Testing

@Suite struct LineNameTests {
    @Test(arguments: [
        ("BELL", LineName.named("BELL")), ("pinctrl-bcm2711:17", .chip("pinctrl-bcm2711", offset: 17)),
        ("a:b:3", .chip("a:b", offset: 3)), ("sim:bell", .simulated("bell")), ("sim:3", .simulated("3")),
        ("GPIO:x", .named("GPIO:x")), (":3", .named(":3")), ("a:-1", .named("a:-1")),
    ])
    func reads(text: String, name: LineName) {
        #expect(LineName(text) == name)
        #expect(LineName(text)?.description == text)
    }

    @Test(arguments: ["", "sim:"])
    func refuses(text: String) { #expect(LineName(text) == nil) }

    private var board: Board {
        var board = Board()
        board.lines = [
            LineDescription(path: "/dev/gpiochip0", label: "soc", offset: 0, name: "BELL"),
            LineDescription(path: "/dev/gpiochip0", label: "soc", offset: 1, name: "LED"),
            LineDescription(path: "/dev/gpiochip1", label: "expander", offset: 0, name: "LED"),
        ]
        return board
    }

    @Test func findsByNameAndByChip() throws {
        #expect(try board.find(.named("BELL")).offset == 0)
        #expect(try board.find(.chip("expander", offset: 0)).path == "/dev/gpiochip1")
        #expect(throws: LineFault.notFound) { try board.find(.named("NONE")) }
        #expect(throws: LineFault.notFound) { try board.find(.chip("soc", offset: 9)) }
        #expect(throws: LineFault.ambiguous(["soc", "expander"])) { try board.find(.named("LED")) }
    }

    @Test func aChipThatMayNotBeOpenedIsTheReason() {
        var board = board
        board.refused["/dev/gpiochip2"] = .init("/dev/gpiochip2", "open", number: 13)
        #expect(throws: LineFault.notPermitted("/dev/gpiochip2")) { try board.find(.named("NONE")) }
        #expect(LineFault.busy(consumer: "gpioset").description == "it is in use by gpioset")
    }
}
