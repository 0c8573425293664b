import CLinux
import Glibc

/// Starts threads. What a thread's body captures is sent to it: touching that afterwards does not compile.
package enum Thread {
    private final class Body {
        let run: () -> Void
        init(_ run: sending @escaping () -> Void) { self.run = run }
    }

    /// Starts a detached thread under a name of at most 15 octets (seen in `ps -L`).
    package static func start(_ name: String, _ body: sending @escaping () -> Void) throws(SystemError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let context = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            throw SystemError("thread \(name)", "start", number: result)
        }
        portero_name_thread(thread, String(decoding: name.utf8.prefix(15), as: UTF8.self))
    }
}
