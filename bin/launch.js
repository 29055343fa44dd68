// Plain JavaScript for any Node: finds a Node >= 24 and runs a TypeScript file (or its built JavaScript) on it.
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

/** A debugger stops threads and holds a port: the program runs in this process then. */
const isDebugged = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((flags) => flags.includes('--inspect'))

/**
 * Runs a module in this process when this Node is new enough, else in a child on the Node that the toolchain brought. The child ends with this
 * process, however it ends: it watches the channel between them.
 * @param v8Flags for all its threads
 * @param isSupervised always in a child: this process reports an end that the child cannot report
 */
export async function launch(file, args, v8Flags = [], isSupervised = false) {
  const isNew = Number(process.versions.node.split('.')[0]) >= wanted
  if (isNew && (!isSupervised || isDebugged)) {
    process.argv = [process.argv[0], file, ...args]
    for (const flag of v8Flags) setFlagsFromString(flag)
    // threads look at the variable, this one has begun without it
    process.env.NODE_COMPILE_CACHE ??= compileCache
    module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
    await import(pathToFileURL(file).href)
    return
  }
  const node = isNew ? process.execPath : bundledNode()
  if (!node) {
    process.stderr.write(
      `basalt needs Node ${wanted} or newer, this is ${process.versions.node}: install it from nodejs.org or with your version manager\n`,
    )
    process.exitCode = 2
    return
  }
  const { supervise } = await import('./supervise.js')
  const flags = [...(isNew ? process.execArgv : []), ...v8Flags]
  supervise(node, [...flags, file, ...args], { NODE_COMPILE_CACHE: compileCache, ...process.env })
}
