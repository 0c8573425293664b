internal import EventLoop
internal import Primitives

/// What is kept over a restart: written on the helper thread, and again until it is on the disk.
extension Appliance {
    private static let saveRetry: Duration = .seconds(60)
    private static let stateFault = "state-directory"

    /// Replaces a file of the state folder.
    func save(_ file: StateFolder.File, _ octets: [UInt8]) {
        unsaved[file] = octets
        let state = state
        helper.run {
            do throws(SystemError) {
                try state.replace(file, octets)
                return SystemError?.none
            } catch {
                return error
            }
        } then: { [weak self] problem in
            self?.saved(file, octets, problem)
        }
    }

    /// Removes a file of the state folder, after whatever was saved before.
    func forget(_ file: StateFolder.File) {
        unsaved[file] = nil
        let state = state
        helper.run {
            state.remove(file)
        } then: { (_: Void) in
        }
    }

    private func saved(_ file: StateFolder.File, _ octets: [UInt8], _ problem: SystemError?) {
        if let problem {
            raise(Self.stateFault, "not kept over a restart: \(problem)")
            saveTimer?.set(deadline: loop.now + Self.saveRetry)
        } else {
            // Something newer may be on its way by now.
            if unsaved[file] == octets { unsaved[file] = nil }
            if unsaved.isEmpty { clear(Self.stateFault) }
        }
    }

    /// The folder may have come, or have room again.
    func saveAgain() {
        state = StateFolder(path: state.path)
        for (file, octets) in unsaved { save(file, octets) }
    }
}
