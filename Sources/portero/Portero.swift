@main enum Portero { static func main() {} }
