import { invalidInput, methodNotFound } from '../../errors.ts'
import { refTo } from '../../schemas.ts'
import { adminMethod } from '../define.ts'

export const stopSequencer = adminMethod({
  name: 'admin_stopSequencer',
  doc: 'Stops the sequencer and drops the block that it is building. Refused when the sequencer is not active.',
  params: [],
  result: { doc: 'hash of the unsafe head', schema: refTo('Hash'), encode: (head: string) => head },
  cost: 'execution',
  example: { params: [], result: `0x${'11'.repeat(32)}` },
  async run({ admin: { sequencer } }): Promise<string> {
    if (sequencer === undefined) throw methodNotFound()
    const outcome = await sequencer.stop()
    if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
    return outcome.value
  },
})
