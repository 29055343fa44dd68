import { flag } from '../../codecs/values.ts'
import { methodNotFound } from '../../errors.ts'
import { adminMethod } from '../define.ts'

export const sequencerActive = adminMethod({
  name: 'admin_sequencerActive',
  doc: 'Whether blocks are sequenced now. On a node without a sequencer: method not found.',
  params: [],
  result: flag,
  cost: 'instant',
  example: { params: [], result: true },
  run({ admin: { sequencer } }): boolean {
    if (sequencer === undefined) throw methodNotFound()
    return sequencer.isActive()
  },
})
