import { flag, hash, noResult } from '../../codecs/values.ts'
import type { AdminContext } from '../../context.ts'
import { invalidInput, methodNotFound } from '../../errors.ts'
import type { AdminNode, AdminOutcome } from '../../ports.ts'
import { type Method, param } from '../../registry.ts'
import { adminMethod } from '../define.ts'

/** @throws RpcError −32601 on a node without a sequencer */
function sequencerOf({ admin: { sequencer } }: AdminContext): NonNullable<AdminNode['sequencer']> {
  if (sequencer === undefined) throw methodNotFound()
  return sequencer
}

/** @throws RpcError −32000 with the reason of a refusal */
function done<T>(outcome: AdminOutcome<T>): T {
  if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
  return outcome.value
}

const sequencerActive = adminMethod({
  name: 'admin_sequencerActive',
  doc: 'Whether the sequencer is active. Method not found on a node without a sequencer.',
  params: [],
  result: flag,
  cost: 'instant',
  example: { params: [], result: true },
  run: (context) => sequencerOf(context).isActive(),
})

const startSequencer = adminMethod({
  name: 'admin_startSequencer',
  doc: 'Starts the sequencer on the unsafe head. Refused when the unsafe head is another block, or when the sequencer is active already.',
  params: [param('unsafeHead', hash)],
  result: noResult('null'),
  cost: 'instant',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: async (context, unsafe) => done(await sequencerOf(context).start(unsafe)),
})

const stopSequencer = adminMethod({
  name: 'admin_stopSequencer',
  doc: 'Stops the sequencer and drops the block that it is building. Refused when the sequencer is not active.',
  params: [],
  result: { ...hash, doc: 'hash of the unsafe head' },
  cost: 'execution',
  example: { params: [], result: `0x${'11'.repeat(32)}` },
  run: async (context) => done(await sequencerOf(context).stop()),
})

export const sequencerMethods: readonly Method<AdminContext>[] = [sequencerActive, startSequencer, stopSequencer]
