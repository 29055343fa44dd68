import { expect, it } from 'vitest'
import { genesisBlock } from '#block/genesisBlock'
import { parseBlobSchedule } from '#chainspec/blobSchedule'
import { agreeWithGenesis } from '#chainspec/genesis'
import { parseGethGenesis } from '#chainspec/genesisJson'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { parseAddress, parseHash } from '#types/ids'
import { type DevnetChainOptions, makeDevnetChain, toChainFiles } from './devnetChain.ts'
import { exportedChain } from './exportedChain.ts'
import { forksUpTo } from './forkSchedule.ts'

const at = (last: string) => parseAddress(`0x${last.padStart(40, '0')}`)
const origin = {
  genesis: { number: 0, hash: parseHash(`0x${'11'.repeat(32)}`) },
  genesisTimeSec: 1_790_000_000,
  portal: at('b0'),
  systemConfig: at('b1'),
}
const chainUpTo = (fork: string) => {
  const options: DevnetChainOptions = {
    chainId: 901,
    l1ChainId: 900,
    blockTimeSec: 2,
    forks: forksUpTo(fork, 2),
    accounts: [at('a1')],
    batcher: at('ba'),
    activationAdmin: at('ad'),
  }
  return makeDevnetChain(options, origin)
}
const written = (fork: string) => {
  const chain = chainUpTo(fork)
  const files = exportedChain(toChainFiles(chain), 900)
  return { chain, files: JSON.parse(JSON.stringify(files)) as Record<keyof typeof files, Record<string, unknown>> }
}

it.each(['azul', 'denim'])('devnet/exportedChain: the genesis file has the hash of the chain, with forks up to %s', (fork) => {
  const { chain, files } = written(fork)
  const { genesis, warnings } = parseGethGenesis(files.genesis)
  expect(warnings).toEqual([])
  expect(genesisBlock(genesis, chain.config.schedule).hash).toBe(chain.config.genesis.l2.hash)
  expect(agreeWithGenesis(parseRollupConfig(files.rollup), genesis)).toEqual(chain.config)
})

it("devnet/exportedChain: the genesis has the times of Ethereum's forks, which execution clients read", () => {
  const { files } = written('azul')
  const [genesisTime, first] = [1_790_000_000, 1_790_000_002]
  expect(files.genesis['config']).toMatchObject({
    chainId: 901,
    londonBlock: 0,
    terminalTotalDifficulty: 0,
    bedrockBlock: 0,
    regolithTime: 0,
    canyonTime: genesisTime,
    shanghaiTime: genesisTime,
    ecotoneTime: first,
    cancunTime: first,
    isthmusTime: first,
    pragueTime: first,
    osakaTime: first,
    base: { azul: first },
    optimism: { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 },
  })
  const jovian = written('jovian').files.genesis['config']
  expect(jovian).not.toHaveProperty('osakaTime')
  expect(jovian).not.toHaveProperty('base')
  expect(jovian).not.toHaveProperty('activationAdminAddress')
  expect(written('jovian').files.rollup).not.toHaveProperty('base')
})

it('devnet/exportedChain: a fork that is not planned has no Ethereum time', () => {
  const { files } = written('fjord')
  expect(files.genesis['config']).toMatchObject({ cancunTime: 1_790_000_002, fjordTime: 1_790_000_002 })
  expect(files.genesis['config']).not.toHaveProperty('pragueTime')
})

it("devnet/exportedChain: the admin is beside the times of Base's forks in the genesis, and not in the rollup config", () => {
  // Base's client reads config.activationAdminAddress; its structs of `base` refuse unknown keys
  const { chain, files } = written('denim')
  const base = { azul: 1_790_000_002, beryl: 1_790_000_002, cobalt: 1_790_000_002, denim: 1_790_000_002 }
  expect(files.genesis['config']).toMatchObject({ activationAdminAddress: at('ad') })
  expect((files.genesis['config'] as { base: unknown }).base).toEqual(base)
  expect(files.rollup['base']).toEqual(base)
  expect(agreeWithGenesis(parseRollupConfig(files.rollup), parseGethGenesis(files.genesis).genesis)).toEqual(chain.config)
})

it.each([
  ['holocene', ['batcherAddr', 'overhead', 'scalar', 'gasLimit']],
  ['jovian', ['batcherAddr', 'overhead', 'scalar', 'gasLimit', 'minBaseFee']],
])('devnet/exportedChain: the rollup config has no key that op-node refuses, with forks up to %s', (fork, keys) => {
  const { chain, files } = written(fork)
  const { system_config: systemConfig } = files.rollup['genesis'] as { system_config: object }
  expect(Object.keys(systemConfig)).toEqual(keys)
  expect(files.rollup).not.toHaveProperty('granite_channel_timeout')
  expect(parseRollupConfig(files.rollup).config).toMatchObject({ channelTimeoutGraniteBlocks: chain.config.channelTimeoutGraniteBlocks })
})

it('devnet/exportedChain: the chain config of L1 has the blob parameters of Prague (EIP-7691)', () => {
  const { l1ChainConfig } = written('jovian').files
  expect(l1ChainConfig).toMatchObject({
    chainId: 900,
    pragueTime: 0,
    blobSchedule: { prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 } },
  })
  expect(parseBlobSchedule(l1ChainConfig, 900).changes.at(-1)).toMatchObject({ fromSec: 0, target: 6, max: 9 })
})
