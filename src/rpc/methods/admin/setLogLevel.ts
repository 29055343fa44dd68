import { type LogLevel, logLevels } from '#lib/logNames'
import { ParamError } from '../../codecs/paramError.ts'
import { noResult, wrongType } from '../../codecs/values.ts'
import { unsupported } from '../../errors.ts'
import { type ParamCodec, param } from '../../registry.ts'
import { adminMethod } from '../define.ts'

const level: ParamCodec<LogLevel> = {
  doc: logLevels.join(', '),
  schema: { enum: logLevels },
  parse(value): LogLevel {
    if (typeof value !== 'string') throw wrongType(value, 'a log level')
    const found = logLevels.find((name) => name === value.toLowerCase())
    if (found === undefined) throw new ParamError(`unknown variant \`${value.slice(0, 40)}\`, expected one of ${logLevels.join(', ')}`)
    return found
  },
}

export const setLogLevel = adminMethod({
  name: 'admin_setLogLevel',
  doc: 'Sets the level of the log.',
  params: [param('level', level)],
  result: noResult('null'),
  cost: 'instant',
  example: { params: ['debug'], result: null },
  run(context, wanted): void {
    if (context.admin.setLogLevel === undefined) throw unsupported('changes of the log level')
    context.admin.setLogLevel(wanted)
  },
})
