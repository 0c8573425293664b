import EventLoop
import Foundation
import Testing

@Suite struct FilesTests {
    private func folder() throws -> String {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("portero-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url.path
    }

    @Test func replacesWholeAndLeavesNothingBeside() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/state"
        try AtomicFile.replace(path, Array("old".utf8))
        try AtomicFile.replace(path, Array("new".utf8), mode: 0o600)
        #expect(try SmallFile.read(path) == Array("new".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["state"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func failureNamesThePathAndKeepsTheOldFile() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(throws: SystemError(folder + "/none/state.new", "create", number: ENOENT)) {
            try AtomicFile.replace(folder + "/none/state", [])
        }
        try FileManager.default.createDirectory(atPath: folder + "/taken", withIntermediateDirectories: true)
        #expect(throws: SystemError.self) { try AtomicFile.replace(folder + "/taken", [1]) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["taken"])
        #expect(SystemError("x", "open", number: EACCES).description == "x: open: Permission denied")
    }

    @Test func readingIsBounded() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try AtomicFile.replace(folder + "/f", [UInt8](repeating: 1, count: 50_000))
        #expect(try SmallFile.read(folder + "/f").count == 50_000)
        #expect(throws: SystemError(folder + "/f", "read", number: EFBIG)) {
            try SmallFile.read(folder + "/f", limit: 49_999)
        }
    }

    @Test func credentialsComeFromTheirFolderAlone() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try AtomicFile.replace(folder + "/house", Array("pa ss\n".utf8))
        let credentials = Credentials(directory: folder)
        #expect(try credentials.read("house") == Array("pa ss".utf8))
        #expect(throws: SystemError("credential ../house", "read", number: EINVAL)) {
            try credentials.read("../house")
        }
        #expect(throws: SystemError("credential none", "open", number: ENOENT)) { try credentials.read("none") }
        #expect(throws: SystemError("credential house", "read", number: ENOENT)) {
            try Credentials(directory: nil).read("house")
        }
    }
}

@Suite struct FolderWatchTests {
    @Test func aFileMayComeChangeAndGo() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("portero-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let loop = try EventLoop()
        var count = 0
        let watch = try FolderWatch(on: loop, files: [folder + "/wanted"]) { count += 1 }
        try AtomicFile.replace(folder + "/other", [1])
        try loop.turn(atMost: .milliseconds(20))
        #expect(count == 0)
        try AtomicFile.replace(folder + "/wanted", [1])
        #expect(try loop.turn(until: { count == 1 }))
        unlink(folder + "/wanted")
        #expect(try loop.turn(until: { count == 2 }))
        withExtendedLifetime(watch) {}
    }

    @Test func linksAreFollowed() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("portero-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try AtomicFile.replace(folder + "/real", [1])
        #expect(symlink("real", folder + "/link") == 0)
        #expect(FolderWatch.places(of: folder + "/link") == [folder + "/link", folder + "/real"])
        #expect(FolderWatch.places(of: folder + "/none") == [folder + "/none"])
    }
}
