import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { parseHash } from '#types/ids'
import { writeDevnet } from './datadir.ts'
import { makeDevnetChain } from './devnetChain.ts'
import { portalAddress, systemConfigAddress } from './l1Contracts.ts'
import { type DevnetOptions, resolveOptions } from './options.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-options-'))
afterAll(() => rmSync(dir, { recursive: true }))

it('devnet/options: defaults are memory, chain 901 on 900, all forks in block 1, ten accounts', () => {
  const { fixed, accounts, datadir, kept } = resolveOptions({})
  expect(fixed).toMatchObject({ l1: 'memory', chainId: 901, l1ChainId: 900, blockTimeSec: 2, slotSec: 2, forks: { canyon: 0, denim: 2 } })
  expect(fixed.activationAdmin).toBe('0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc')
  expect(accounts).toHaveLength(10)
  expect(fixed.accounts).not.toContain(fixed.batcher)
  expect([datadir, kept]).toEqual([undefined, undefined])
})

it('devnet/options: forks of block 1 activate with the first block, at any block time', () => {
  expect(resolveOptions({ blockTimeSec: 1, fork: 'fjord' }).fixed.forks).toEqual({ canyon: 0, delta: 0, ecotone: 1, fjord: 1 })
  expect(resolveOptions({ fork: { ecotone: 9 } }).fixed.forks).toEqual({ canyon: 0, delta: 0, ecotone: 9 })
})

it.each<[string, DevnetOptions, string, boolean]>([
  ['nothing', {}, 'denim', false],
  ['200 ms', { blockTimeSec: 0.2 }, 'denim', false],
  ['Denim later', { fork: { jovian: 2, denim: 30 }, blockTimeSec: 2 }, 'denim', true],
  ['1 s', { blockTimeSec: 1 }, 'cobalt', true],
  ['Beryl', { fork: 'beryl' }, 'beryl', true],
  ['Denim and flashblocks', { flashblocks: true }, 'denim', true],
])('devnet/options: newest fork and flashblocks of a request for %s', (_what, options, newest, hasFlashblocks) => {
  const { fixed, hasFlashblocks: publishes } = resolveOptions(options)
  expect([Object.keys(fixed.forks).at(-1), publishes]).toEqual([newest, hasFlashblocks])
})

it.each<[string, DevnetOptions, string, string]>([
  ['a block time of 200 ms before Denim', { blockTimeSec: 0.2, fork: 'cobalt' }, 'OPTION_UNSUPPORTED_HERE', 'only Denim has it'],
  ['a block time of 2 s with Denim', { blockTimeSec: 2, fork: 'denim' }, 'OPTION_UNSUPPORTED_HERE', 'choose --fork cobalt'],
  ['a block time of 3 s', { blockTimeSec: 3 }, 'OPTION_UNSUPPORTED_HERE', 'it must be 1 or 2 s'],
  ['slots of half a second', { l1BlockTimeSec: 0.5 }, 'OPTION_UNSUPPORTED_HERE', 'it must be 1 to 60 s'],
  ['the chain id of L1', { chainId: 900 }, 'OPTION_UNSUPPORTED_HERE', 'L1 has the same chain id'],
  ['an invalid chain id', { chainId: -1 }, 'OPTION_UNSUPPORTED_HERE', 'chain id -1'],
  ['an unknown option', { blockTime: 1 } as DevnetOptions, 'OPTION_UNSUPPORTED_HERE', 'the option blockTime'],
  ['an unknown L1', { l1: 'geth' } as unknown as DevnetOptions, 'OPTION_UNSUPPORTED_HERE', 'memory or anvil'],
  ['an unknown data availability', { dataAvailability: 'pigeon' } as unknown as DevnetOptions, 'OPTION_UNSUPPORTED_HERE', 'pigeon'],
  ['no accounts', { accounts: 0 }, 'OPTION_UNSUPPORTED_HERE', '1 to 100'],
  ['too many accounts', { accounts: 101 }, 'OPTION_UNSUPPORTED_HERE', '1 to 100'],
  ['an invalid mnemonic', { mnemonic: 'one two' }, 'BAD_MNEMONIC', 'BIP-39'],
  ['a schedule that is null', { fork: null } as unknown as DevnetOptions, 'BAD_FORK_SCHEDULE', 'expected an object'],
  ['a schedule that is 0', { fork: 0 } as unknown as DevnetOptions, 'BAD_FORK_SCHEDULE', 'expected an object'],
  ['a schedule that is false', { fork: false } as unknown as DevnetOptions, 'BAD_FORK_SCHEDULE', 'expected an object'],
  ['a fork without a name', { fork: '' }, 'UNKNOWN_FORK', 'unknown fork ""'],
  ['a stored L1 in memory', { l1: 'memory', datadir: join(dir, 'none') }, 'OPTION_UNSUPPORTED_HERE', 'it stores nothing on disk'],
])('devnet/options: refuses %s (%s)', (_what, options, code, says) => {
  expect(() => resolveOptions(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) }))
})

it('devnet/options: takes absent options from the directory, and refuses different ones by name (OTHER_OPTIONS)', () => {
  const datadir = join(dir, 'kept')
  const { fixed } = resolveOptions({ datadir, chainId: 7, blockTimeSec: 1, accounts: 3, fork: 'isthmus' })
  const genesis = { number: 0, hash: parseHash(`0x${'11'.repeat(32)}`) }
  const origin = { genesis, genesisTimeSec: 1_790_000_000, portal: portalAddress, systemConfig: systemConfigAddress }
  writeDevnet(datadir, { options: fixed, genesisTimeSec: origin.genesisTimeSec, chain: makeDevnetChain(fixed, origin) })
  const again = resolveOptions({ datadir })
  expect(again.fixed).toEqual(fixed)
  expect(again.kept?.genesisTimeSec).toBe(origin.genesisTimeSec)
  expect(resolveOptions({ datadir, chainId: 7, fork: 'isthmus' }).fixed).toEqual(fixed)
  for (const [options, flag] of [
    [{ chainId: 8 }, '--chain-id'],
    [{ blockTimeSec: 2 }, '--block-time'],
    [{ fork: 'jovian' }, '--fork'],
    [{ accounts: 4 }, '--accounts'],
  ] as const) {
    expect(() => resolveOptions({ datadir, ...options })).toThrow(
      expect.objectContaining({ code: 'OTHER_OPTIONS', message: expect.stringContaining(flag) }),
    )
  }
})

it('devnet/options: continues a stored devnet without an activation admin, which was created before Beryl', () => {
  const datadir = join(dir, 'older')
  const { activationAdmin: _, ...older } = resolveOptions({ datadir, fork: 'jovian' }).fixed
  const genesis = { number: 0, hash: parseHash(`0x${'11'.repeat(32)}`) }
  const origin = { genesis, genesisTimeSec: 1_790_000_000, portal: portalAddress, systemConfig: systemConfigAddress }
  writeDevnet(datadir, { options: older, genesisTimeSec: origin.genesisTimeSec, chain: makeDevnetChain(older, origin) })
  expect(resolveOptions({ datadir }).fixed).toEqual(older)
  expect(() => resolveOptions({ datadir, mnemonic: `${'zoo '.repeat(11)}wrong` })).toThrow(
    expect.objectContaining({ code: 'OTHER_OPTIONS' }),
  )
})
