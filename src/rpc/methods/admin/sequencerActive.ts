import { flag } from '../../codecs/values.ts'
import { methodNotFound } from '../../errors.ts'
import { adminMethod } from '../define.ts'

export const sequencerActive = adminMethod({
  name: 'admin_sequencerActive',
  doc: 'Whether the sequencer is active. Method not found on a node without a sequencer.',
  params: [],
  result: flag,
  cost: 'instant',
  example: { params: [], result: true },
  run({ admin: { sequencer } }): boolean {
    if (sequencer === undefined) throw methodNotFound()
    return sequencer.isActive()
  },
})
