#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.js'

/** V8 flags for a devnet, which shares its machine: heaps grow by a fifth. Half the memory, for a fifth more processor time under load. */
const smallHeaps = ['--max-semi-space-size=4', '--semi-space-growth-factor=1', '--heap-growing-percent=20']

const built = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const source = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const args = process.argv.slice(2)
/** Commands that read a database file, which LMDB maps into memory: a damaged page may end the process. */
const isSupervised = ['node', 'import', 'db'].includes(args[0])
await launch(existsSync(source) ? source : built, args, args[0] === 'devnet' ? smallHeaps : [], isSupervised)
