import Fuzzing

/// Said by `--target=NAME`: libFuzzer leaves such words alone.
private let target: FuzzTarget = {
    for target in FuzzTarget.all where CommandLine.arguments.contains("--target=\(target.name)") { return target }
    fatalError("say --target= and one of \(FuzzTarget.all)")
}()

@_cdecl("LLVMFuzzerTestOneInput")
package func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
