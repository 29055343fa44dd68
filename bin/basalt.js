#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.js'

const built = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const source = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
await launch(existsSync(source) ? source : built, process.argv.slice(2))
