import { readFileSync } from 'node:fs'
import type { CommandBody } from '../command.ts'
import { exitCodes } from '../exitCodes.ts'
import { cliFault } from '../faults.ts'
import { type FlagName, flags, wordOf } from '../flags.ts'
import { printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'
import { fetchLatest, isNewer } from './versionCheck.ts'

export function packageVersion(): string {
  const file = new URL('../../../package.json', import.meta.url)
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }).version)
}

const own = ['json', 'version.check', 'release.index'] as const satisfies readonly FlagName[]

export const version: CommandBody = {
  flags: own,
  masksSecrets: true,
  async run(io, raw): Promise<number> {
    const { json, 'version.check': checks, 'release.index': index } = readFlags(own, raw, io.env)
    const versions = { basalt: packageVersion(), node: process.versions.node }
    if (!checks) {
      printResult(io, json, versions)
      return exitCodes.done
    }
    if (index === undefined) {
      const { env: variable, doc } = flags['release.index']
      throw cliFault('MISSING_FLAG', { flag: wordOf('release.index'), variable, doc })
    }
    const latest = await fetchLatest(io, index)
    printResult(io, json, { ...versions, latest })
    return isNewer(latest, versions.basalt) ? exitCodes.failed : exitCodes.done
  },
}
