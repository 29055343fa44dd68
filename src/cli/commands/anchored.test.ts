import { expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { readFlags } from '../readFlags.ts'
import { beginAnchored } from './anchored.ts'

it('cli/commands/anchored: an anchored start needs sources of state (MISSING_FLAG)', async () => {
  const { config } = readRecordedChain('op-ecotone-to-jovian')
  const given = readFlags(['source.state', 'start.block-hash', 'trust.require', 'l1.rpc', 'source.l2.rpc'], {}, {})
  const io = { clock: createManualClock(), signal: new AbortController().signal }
  await expect(beginAnchored(io, silentLog, given, { config, datadir: '/nowhere' })).rejects.toMatchObject({
    code: 'MISSING_FLAG',
    message: expect.stringContaining('--source.state'),
  })
})
