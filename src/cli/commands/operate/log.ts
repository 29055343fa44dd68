import { logLevels } from '#lib/logNames'
import { objectOf } from '#types/jsonShape'
import type { Command, CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import { cliFault } from '../../faults.ts'
import type { FlagName } from '../../flags.ts'
import { callOperator, operatorFlags } from '../../localNode/operatorClient.ts'
import { readFlags } from '../../readFlags.ts'
import { columns } from '../../textLayout.ts'

const names = [...operatorFlags, 'json'] as const satisfies readonly FlagName[]

/** Name that stands for the whole log. */
const whole = 'all'
/** `default`: that of the whole log */
const levels: readonly string[] = [...logLevels, 'default']

/** Returns a line for the log and one for each module. */
function levelRows(shown: unknown): readonly (readonly string[])[] {
  const { level, modules } = objectOf(shown, 'the levels')
  const own = Object.entries(objectOf(modules, 'modules')).map(([module, given]) => [module, given === null ? 'default' : String(given)])
  return [[whole, String(level)], ...own]
}

const show: Command = {
  name: 'show',
  doc: 'print the level of the log, and of each module: default is that of the log',
  flags: names,
  masksSecrets: true,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const shown = await callOperator(io, given, 'admin_logLevels', [])
    io.out.write(given.json ? `${JSON.stringify(shown)}\n` : columns(levelRows(shown)))
    return exitCodes.done
  },
}

const set: Command = {
  name: 'set',
  doc: 'set the level of a module in all threads until the node ends, and print all levels',
  argument: { name: 'MODULE', doc: `name of a module, as in a log line; ${whole}: the whole log` },
  secondArgument: { name: 'LEVEL', doc: 'trace, debug, info, warn, error; default: that of the log' },
  flags: names,
  masksSecrets: true,
  async run(io, raw, module, level = ''): Promise<number> {
    const given = readFlags(names, raw, io.env)
    if (!levels.includes(level)) {
      throw cliFault('BAD_USAGE', { problem: `${JSON.stringify(level)} is no level of the log; one of ${levels.join(', ')} is expected` })
    }
    await callOperator(io, given, 'admin_setLogLevel', module === whole ? [level] : [level, module])
    return await show.run(io, raw, '')
  },
}

export const log: CommandBody = {
  flags: [],
  commands: [show, set],
  run: () => Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt log needs a command: show or set' })),
}
