import Foundation
import Fuzzing
import Testing

/// What the fuzzer found once never comes back, and its targets take the ordinary cases too (SEC12).
@Suite struct ReplayTests {
    private static let data = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Data")

    private static func files(_ folder: String) -> [[UInt8]] {
        let folder = data.appending(path: folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { try? Data(contentsOf: folder.appending(path: $0)) }.map { Array($0) }
    }

    @Test(arguments: FuzzTarget.all)
    func findings(_ target: FuzzTarget) {
        for octets in Self.files("fuzz/\(target.name)") { target.run(octets) }
    }

    /// Each target with the cases of all of them: none is made for the others' octets.
    @Test(arguments: FuzzTarget.all)
    func foreignOctets(_ target: FuzzTarget) {
        for octets in Self.files("messages/composed") + Self.files("sdp") where octets.count < 4000 {
            target.run(octets)
        }
        target.run([])
    }
}
