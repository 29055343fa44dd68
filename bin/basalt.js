#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { availableParallelism, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.js'

/** V8 flags for a devnet, which shares its machine: heaps grow by a fifth. Half the memory, for a fifth more processor time under load. */
const smallHeaps = ['--max-semi-space-size=4', '--semi-space-growth-factor=1', '--heap-growing-percent=20']

/** Cores on which helpers of V8's collector would wait for a core. */
const fewCores = 2

/**
 * V8 flags for a node. Young generations of 16 MB: they grow to 64 MB in each thread otherwise, for a gain that was not shown. `gc` lets a thread return its
 * garbage when the process nears --memory-max (ADR 0033). On few cores a thread collects its young garbage alone: it would
 * wait for helpers.
 */
const nodeHeaps = ['--max-semi-space-size=16', '--expose-gc', ...(availableParallelism() <= fewCores ? ['--no-parallel-scavenge'] : [])]
const flagsOf = { devnet: smallHeaps, node: nodeHeaps }

const built = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const source = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const args = process.argv.slice(2)
/** Commands that read a database file, which LMDB maps into memory: a damaged page may end the process. */
const isSupervised = ['node', 'import', 'db', 'proofs', 'snapshot'].includes(args[0])
/** Of `snapshot create`: a node beside it has 28 times its weight. At 19, the lowest priority, it would wait for hours on a machine without idle time. */
const createPriority = 15
// the child process inherits it for all its threads
if (args[0] === 'snapshot' && args[1] === 'create') setPriority(createPriority)
await launch(existsSync(source) ? source : built, args, flagsOf[args[0]] ?? [], isSupervised)
