import { expect, it } from 'vitest'
import { genesisBlock } from '#block/genesisBlock'
import { parseAddress, parseHash } from '#types/ids'
import { type DevnetChainOptions, type DevnetOrigin, makeDevnetChain, parseChainFiles, startBalance, toChainFiles } from './devnetChain.ts'
import { forksUpTo } from './forkSchedule.ts'

const at = (last: string) => parseAddress(`0x${last.padStart(40, '0')}`)
const options: DevnetChainOptions = {
  chainId: 901,
  l1ChainId: 900,
  blockTimeSec: 2,
  forks: forksUpTo('jovian', 2),
  accounts: [at('a1'), at('a2')],
  batcher: at('ba'),
}
const origin: DevnetOrigin = {
  genesis: { number: 0, hash: parseHash(`0x${'11'.repeat(32)}`) },
  genesisTimeSec: 1_790_000_000,
  portal: at('b0'),
  systemConfig: at('b1'),
}
const chain = makeDevnetChain(options, origin)

it('devnet/devnetChain: starts with its L1, 10,000 ETH for each account, and all forks in block 1', () => {
  const { config, genesis } = chain
  expect(config).toMatchObject({
    l2ChainId: 901,
    l1ChainId: 900,
    genesis: { l1: origin.genesis, l2TimeSec: origin.genesisTimeSec, systemConfig: { gasLimit: 120_000_000n, batcher: options.batcher } },
    depositContract: origin.portal,
    l1SystemConfig: origin.systemConfig,
    schedule: { canyon: 1_790_000_000, delta: 1_790_000_000, ecotone: 1_790_000_002, jovian: 1_790_000_002 },
  })
  const balances = new Map(genesis().accounts.map(({ address, balance }) => [address, balance]))
  expect(options.accounts.map((address) => balances.get(address))).toEqual([startBalance, startBalance])
  expect(balances.get(options.batcher)).toBeUndefined()
})

it.each([
  ['up to Jovian', chain],
  ['up to Azul', makeDevnetChain({ ...options, forks: forksUpTo('azul', 2) }, origin)],
  ['up to Denim', makeDevnetChain({ ...options, forks: forksUpTo('denim', 2), activationAdmin: at('ad') }, origin)],
])('devnet/devnetChain: reads the same chain from its files, with the forks %s', (_what, made) => {
  const read = parseChainFiles(JSON.parse(JSON.stringify(toChainFiles(made))))
  expect(read.config).toEqual(made.config)
  expect(read.genesis()).toEqual(made.genesis())
  expect(read.genesis().chain?.schedule).toEqual(made.config.schedule)
  expect(genesisBlock(read.genesis(), read.config.schedule).hash).toBe(made.config.genesis.l2.hash)
})

it('devnet/devnetChain: a chain without Ecotone at first starts with the earlier scalar', () => {
  const later = makeDevnetChain({ ...options, forks: { canyon: 0, delta: 0, ecotone: 20 } }, origin)
  expect(later.config.genesis.systemConfig.scalar).toBe(684_000n)
  expect(later.config.schedule).toEqual({ bedrock: 0, regolith: 0, canyon: 1_790_000_000, delta: 1_790_000_000, ecotone: 1_790_000_020 })
  expect(chain.config.genesis.systemConfig.scalar >> 248n).toBe(1n)
})
