import { readFileSync, writeFileSync } from 'node:fs'
import { errorMessage } from '#lib/fault'
import { printFindings } from '../../checks/finding.ts'
import { checkPlace } from '../../checks/place.ts'
import { checkSettings } from '../../checks/settings.ts'
import type { Command, CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import { cliFault } from '../../faults.ts'
import type { FlagName } from '../../flags.ts'
import { nodeFlags } from '../../nodeOptions.ts'
import { readFlags } from '../../readFlags.ts'
import { columns } from '../../textLayout.ts'
import { migratedFile, migrateEnv } from './migrateConfig.ts'
import { originText, settingsOf } from './showConfig.ts'

const show: Command = {
  name: 'show',
  doc: 'print every setting of basalt node with its origin; secrets are hidden; exit code 1 when one is invalid',
  flags: ['json'],
  nodeFlags,
  masksSecrets: true,
  run(io, raw): Promise<number> {
    const { json } = readFlags(['json'], raw, io.env)
    const settings = settingsOf(raw, io.env)
    const rows = settings.map((setting) => [`--${setting.flag}`, setting.value ?? '–', originText(setting)])
    io.out.write(json ? `${JSON.stringify(settings)}\n` : columns([['setting', 'value', 'from'], ...rows]))
    return Promise.resolve(settings.some(({ problem }) => problem !== null) ? exitCodes.failed : exitCodes.done)
  },
}

const check: Command = {
  name: 'check',
  doc: 'check everything that basalt node checks at its start and that needs no network; writes nothing; exit code 1 with an error',
  flags: ['json'],
  nodeFlags,
  masksSecrets: true,
  run(io, raw): Promise<number> {
    const { json } = readFlags(['json'], raw, io.env)
    const { findings, options } = checkSettings(raw, io.env, io.clock.nowMs())
    const ofPlace = options ? checkPlace(options) : []
    const looked = ['flags', 'variables', 'files of the chain', 'secrets', ...(options ? ['data directory'] : [])]
    return Promise.resolve(printFindings(io, json, [...findings, ...ofPlace], looked))
  },
}

const migrating = ['mode', 'config.out', 'json'] as const satisfies readonly FlagName[]

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw cliFault('UNREADABLE_FILE', { path, reason: errorMessage(error) }, error)
  }
}

/** Writes a new file that its owner alone may read. @throws Fault UNWRITABLE_FILE (fatal), also when it exists */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw cliFault('UNWRITABLE_FILE', { path, reason: errorMessage(error) }, error)
  }
}

const migrate: Command = {
  name: 'migrate',
  doc: 'translate the env file of a deployment, of base/node or of an older version, with a reason for each line; exit code 1 when a value is invalid',
  argument: { name: 'FILE', doc: 'env file with lines NAME=value' },
  flags: migrating,
  masksSecrets: true,
  run(io, raw, path): Promise<number> {
    // the environment of this shell is another deployment: only the command line counts
    const { mode, 'config.out': out, json } = readFlags(migrating, raw, {})
    const lines = migrateEnv(readText(path), mode)
    if (out !== undefined) writeNew(out, migratedFile(lines, mode))
    const report = lines.map(({ line, variable, outcome, lines: made, reason }) => {
      const names = made.map((one) => one.slice(0, one.indexOf('=')))
      return { line, variable, outcome, becomes: names, reason }
    })
    const rows = report.map(({ line, variable, outcome, becomes, reason }) => [String(line), variable, outcome, becomes.join(' '), reason])
    io.out.write(json ? `${JSON.stringify(report)}\n` : columns([['line', 'variable', 'outcome', 'becomes', 'reason'], ...rows]))
    return Promise.resolve(report.some(({ outcome }) => outcome === 'invalid') ? exitCodes.failed : exitCodes.done)
  },
}

export const config: CommandBody = {
  flags: [],
  commands: [show, check, migrate],
  run: () => Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt config needs a command: show, check or migrate' })),
}
