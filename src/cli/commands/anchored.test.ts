import { expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { defineFaults } from '#lib/fault'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { readFlags } from '../readFlags.ts'
import { beginAnchored, takeNewAnchor } from './anchored.ts'

it('cli/commands/anchored: an anchored start needs sources of state (MISSING_FLAG)', async () => {
  const { config } = readRecordedChain('op-ecotone-to-jovian')
  const given = readFlags(['source.state', 'start.block-hash', 'trust.require', 'l1.rpc', 'source.l2.rpc'], {}, {})
  const io = { clock: createManualClock(), signal: new AbortController().signal }
  await expect(beginAnchored(io, silentLog, given, { config, datadir: '/nowhere' })).rejects.toMatchObject({
    code: 'MISSING_FLAG',
    message: expect.stringContaining('--source.state'),
  })
})

it('cli/commands/anchored: a newer first block is taken for a lost one only, and never when the operator vouches for it', async () => {
  const { config } = readRecordedChain('op-ecotone-to-jovian')
  const io = { clock: createManualClock(), signal: new AbortController().signal }
  const flags = ['source.state', 'start.block-hash', 'trust.require', 'l1.rpc', 'source.l2.rpc'] as const
  const take = (raw: Readonly<Record<string, string>>, error: unknown) =>
    takeNewAnchor(io, silentLog, readFlags(flags, raw, {}), { config, datadir: '/nowhere' }, error)
  const sources = { 'source.state': 'http://127.0.0.1:1' }
  const faults = defineFaults({ ANCHOR_LOST: { severity: 'fatal', says: () => 'left out', fix: 'none' } })
  const lost = faults('ANCHOR_LOST', {})
  expect(await take(sources, new Error('another'))).toBe(false)
  expect(await take({}, lost)).toBe(false)
  expect(await take({ ...sources, 'start.block-hash': `0x${'12'.repeat(32)}` }, lost)).toBe(false)
})
