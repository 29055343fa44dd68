import type { LogLevels } from '#lib/log'
import { type LogLevel, logLevels as levelNames } from '#lib/logNames'
import { ParamError } from '../../codecs/paramError.ts'
import { noResult, wrongType } from '../../codecs/values.ts'
import type { OperatorContext } from '../../context.ts'
import { invalidInput, unsupported } from '../../errors.ts'
import { object } from '../../reference/schemas.ts'
import { optionalParam, type ParamCodec, param } from '../../registry.ts'
import { operatorMethod } from '../define.ts'

/** Follows the level of the log. */
const follows = 'default'
const names = [...levelNames, follows] as const

const level: ParamCodec<LogLevel | typeof follows> = {
  doc: names.join(', '),
  schema: { enum: names },
  parse(value): LogLevel | typeof follows {
    if (typeof value !== 'string') throw wrongType(value, 'a log level')
    const found = names.find((name) => name === value.toLowerCase())
    if (found === undefined) throw new ParamError(`unknown variant \`${value.slice(0, 40)}\`, expected one of ${names.join(', ')}`)
    return found
  },
}

const module: ParamCodec<string | undefined> = {
  doc: 'name of a module, as in a log line',
  schema: { type: 'string' },
  parse(value): string {
    if (typeof value !== 'string' || value.length > 40) throw wrongType(value, 'the name of a module')
    return value
  },
}

function logOf({ operator: { log } }: OperatorContext): NonNullable<OperatorContext['operator']['log']> {
  if (log === undefined) throw unsupported('changes of the log level')
  return log
}

const schema = object('levels of the log', {
  level: { enum: levelNames },
  modules: { type: 'object', additionalProperties: { enum: [...levelNames, null] } },
})

export const logLevels = operatorMethod({
  name: 'admin_logLevels',
  doc: 'Level of the log, and of each module; null: that of the log.',
  params: [],
  result: { doc: 'level, modules', schema, encode: (levels: LogLevels) => ({ ...levels, modules: { ...levels.modules } }) },
  cost: 'instant',
  example: { params: [], result: { level: 'info', modules: { p2p: 'debug', rpc: null } } },
  run: (context) => logOf(context).levels(),
})

export const setLogLevel = operatorMethod({
  name: 'admin_setLogLevel',
  doc: 'Sets the level of the log, or of one module in all threads; default: the module follows the log again.',
  params: [param('level', level), optionalParam('module', module, undefined, 'the whole log')],
  result: noResult('null'),
  cost: 'instant',
  example: { params: ['debug'], result: null },
  run(context, wanted, of): void {
    const log = logOf(context)
    const next = wanted === follows ? undefined : wanted
    if (of !== undefined) {
      const known = Object.keys(log.levels().modules)
      if (!log.setModuleLevel(of, next)) throw invalidInput(`no module ${JSON.stringify(of)}; known: ${known.join(', ')}`)
    } else if (next === undefined) throw invalidInput(`the log has no level to follow; one of ${levelNames.join(', ')} is expected`)
    else log.setLevel(next)
  },
})
