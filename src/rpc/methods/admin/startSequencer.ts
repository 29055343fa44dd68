import { hash } from '../../codecs/values.ts'
import { invalidInput, methodNotFound } from '../../errors.ts'
import { param } from '../../registry.ts'
import { adminMethod } from '../define.ts'

export const startSequencer = adminMethod({
  name: 'admin_startSequencer',
  doc: 'Starts the sequencer on the unsafe head. Refused when the unsafe head is another block, or when the sequencer is active already.',
  params: [param('unsafeHead', hash)],
  result: { doc: 'null', schema: { type: 'null' }, encode: () => null },
  cost: 'instant',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  async run({ admin: { sequencer } }, unsafe): Promise<void> {
    if (sequencer === undefined) throw methodNotFound()
    const outcome = await sequencer.start(unsafe)
    if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
  },
})
