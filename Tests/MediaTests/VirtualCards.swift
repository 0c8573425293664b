import Foundation
import Testing

/// Sound cards without hardware: the clocked virtual device of `board/bench/vdev`, built into a scratch folder.
///
/// alsa-lib reads its configuration from one place in a process, so all tests share one file with a number of cards; each test
/// uses cards of its own.
struct VirtualCards {
    private let folder: URL

    /// Nil without a C compiler.
    static let shared: VirtualCards? = try? VirtualCards()

    private init() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("portero-cards-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let library = folder.appendingPathComponent("libasound_module_pcm_vdev.so").path
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = [
            "cc", "-O2", "-fPIC", "-shared", "-o", library,
            root.appendingPathComponent("board/bench/vdev/pcm_vdev.c").path, "-lasound", "-lm",
        ]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        var text = "pcm_type.vdev { lib \"\(library)\" }\n"
        for number in 0..<32 {
            let card = VirtualCard(folder: folder, number: number)
            text += """
                pcm.\(card.name) { type vdev source "tone:700" record "\(card.recording)" log "\(card.log)" \
                gone "\(card.gone)" exclusive "\(card.path("lock"))" }
                pcm.\(card.plugged) { type plug slave.pcm "\(card.name)" }

                """
        }
        let configuration = folder.appendingPathComponent("asound.conf")
        try text.write(to: configuration, atomically: true, encoding: .utf8)
        setenv("ALSA_CONFIG_PATH", configuration.path, 1)
    }

    /// The card of a number below 32, unused by other tests.
    func card(_ number: Int) -> VirtualCard { VirtualCard(folder: folder, number: number) }
}

/// One card: its microphone hears 700 Hz, what its speaker plays is recorded; one opener for each direction.
struct VirtualCard {
    let folder: URL
    let number: Int

    var name: String { "card\(number)" }
    /// The same card behind ALSA's plug layer.
    var plugged: String { "plug\(number)" }
    var recording: String { path("wav") }
    var log: String { path("log") }
    var gone: String { path("gone") }

    func path(_ ending: String) -> String { folder.appendingPathComponent("\(name).\(ending)").path }

    func unplug() { _ = FileManager.default.createFile(atPath: gone, contents: nil) }
    func plug() { try? FileManager.default.removeItem(atPath: gone) }

    /// Lines that the card logged, beginning with a word.
    func logged(_ word: String) -> [String] {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix(word) }
    }
}
