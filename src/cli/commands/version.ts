import { readFileSync } from 'node:fs'
import type { CommandBody } from '../command.ts'
import { printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'

export function packageVersion(): string {
  const file = new URL('../../../package.json', import.meta.url)
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }).version)
}

export const version: CommandBody = {
  flags: ['json'],
  run(io, raw): Promise<number> {
    const { json } = readFlags(version.flags, raw, io.env) as { json: boolean }
    printResult(io, json, { basalt: packageVersion(), node: process.versions.node })
    return Promise.resolve(0)
  },
}
