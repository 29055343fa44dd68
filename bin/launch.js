// Plain JavaScript for any Node: finds a Node >= 24 and runs a TypeScript file (or its built JavaScript) on it.
import { spawn } from 'node:child_process'
import module, { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const wanted = 24

/** Compiled code is kept beside the package, where only those write who may change the code: the next start takes half the time. */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/basalt', import.meta.url))

function bundledNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined
  }
}

/**
 * Runs a module in this process when this Node is new enough, else in a child on the Node that the toolchain brought.
 * The child ends with this process, however it ends: it watches the channel between them.
 * @param v8Flags for all its threads
 */
export async function launch(file, args, v8Flags = []) {
  if (Number(process.versions.node.split('.')[0]) >= wanted) {
    process.argv = [process.argv[0], file, ...args]
    for (const flag of v8Flags) setFlagsFromString(flag)
    // threads look at the variable, this one has begun without it
    process.env.NODE_COMPILE_CACHE ??= compileCache
    module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
    await import(pathToFileURL(file).href)
    return
  }
  const node = bundledNode()
  if (!node) {
    process.stderr.write(
      `basalt needs Node ${wanted} or newer, this is ${process.versions.node}: install it from nodejs.org or with your version manager\n`,
    )
    process.exitCode = 2
    return
  }
  const env = { NODE_COMPILE_CACHE: compileCache, ...process.env }
  const child = spawn(node, [...v8Flags, file, ...args], { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
  })
}
