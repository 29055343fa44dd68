// Plain JavaScript for any Node: finds a Node >= 24 and runs a TypeScript file (or its built JavaScript) on it.
import module, { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const wanted = 24

/** Cache of compiled code, in the package's folder, where only users who may change the code can write. It halves the time of the next start. */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/basalt', import.meta.url))

function bundledNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined
  }
}

/**
 * Settings of glibc for the child: without them its many threads have up to eight heaps for each core, keep up to 64 MB of free memory in each, and
 * have holes where the buffers of a block were (ADR 0033). The environment wins.
 */
const mallocSettings = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '1048576', MALLOC_MMAP_THRESHOLD_: '262144' }

/** Whether a debugger is requested: it stops threads and holds a port, so the program then runs in this process. */
const isDebugged = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((flags) => flags.includes('--inspect'))

/**
 * Runs a module in this process when this Node is new enough, else in a child process on the Node of the package's toolchain. The child watches the
 * channel to this process and ends with it.
 * @param v8Flags flags for all threads
 * @param isSupervised always use a child process: this process reports an end that the child cannot report
 */
export async function launch(file, args, v8Flags = [], isSupervised = false) {
  const isNew = Number(process.versions.node.split('.')[0]) >= wanted
  if (isNew && (!isSupervised || isDebugged)) {
    process.argv = [process.argv[0], file, ...args]
    for (const flag of v8Flags) setFlagsFromString(flag)
    // new threads read the variable; this thread started without it
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
  const flags = [...v8Flags, ...(isNew ? process.execArgv : [])]
  supervise(node, [...flags, file, ...args], { NODE_COMPILE_CACHE: compileCache, ...mallocSettings, ...process.env })
}
