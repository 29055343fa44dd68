import { beforeAll, describe, expect, it } from 'vitest'
import { buildBlock } from '#block/building/buildBlock'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createSenders } from '#block/execution/senders'
import { fastLzLength } from '#block/fees/fastLz'
import { readL1BlockFees } from '#block/fees/l1BlockSlots'
import { type L1FeeParams, type L1FeeRule, l1DataFee } from '#block/fees/l1DataFee'
import { type OperatorFeeRule, operatorFee } from '#block/fees/operatorFee'
import { beaconRootsContract, historyStorageContract, l1BlockAddress, l1FeeVault, sequencerFeeVault } from '#chainspec/addresses'
import { type Fork, type ForkSchedule, forks, isActive } from '#chainspec/forks'
import { type Genesis, genesisAccount } from '#chainspec/genesis'
import { encodeL1Attributes } from '#chainspec/l1Info'
import { l1AttributesIn, systemConfigOf } from '#chainspec/l2Ref'
import { networkOf } from '#chainspec/networks'
import { evmRulesAt } from '#chainspec/opRules'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SystemConfig } from '#chainspec/systemConfig'
import { upgradeTransactionsAt } from '#chainspec/upgradeTransactions'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'
import { keccak256Text } from '#lib/keccak'
import { overlay } from '#state/stateStack'
import { createWorldReads } from '#state/worldReads'
import { accountOf, signedBy } from '#test/harness/chain/blocks'
import { type BuiltBlock, builtGenesis } from '#test/harness/chain/executedBlocks'
import { headerOf } from '#test/harness/chain/headers'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { type Hash, parseAddress, parseHash, zeroAddress, zeroHash } from '#types/ids'
import type { WorldReads } from '#types/worldReads'

/** Contracts that the upgrades deploy, by the specs of their forks: address, keccak of the code. */
const deployed: Readonly<Partial<Record<Fork, readonly (readonly [string, string])[]>>> = {
  ecotone: [
    ['0x07dbe8500fc591d1852b76fee44d5a05e13097ff', '0xc88a313aa75dc4fbf0b6850d9f9ae41e04243b7008cf3eadb29256d4a71c1dfd'],
    ['0xb528d11cc114e026f138fe568744c6d45ce6da7a', '0x8b71360ea773b4cfaf1ae6d2bd15464a4e1e2e360f786e475f63aeaed8da0ae5'],
  ],
  fjord: [['0xa919894851548179a0750865e7974da599c0fac7', '0xa88fa50a2745b15e6794247614b5298483070661adacb8d32d716434ed24c6b2']],
  isthmus: [
    ['0xff256497d61dcd71a9e9ff43967c13fde1f72d12', '0x8e3fe7a416d3e5f3b7be74ddd4e7e58e516fa3f80b67c6d930e3cd7297da4a4b'],
    ['0x93e57a196454cb919193fa9946f14943cf733845', '0x4d195a9d7caf9fb6d4beaf80de252c626c853afd5868c4f4f8d19c9d301c2679'],
    ['0x4fa2be8cd41504037f1838bce3bcc93bc68ff537', '0x57dc55c9c09ca456fa728f253fe7b895d3e6aae0706104935fe87c7721001971'],
    ['0x0000f90827f1c53a10cb7a02335b175320002935', '0x6e49e66782037c0555897870e29fa5e552daf4719552131a0abce779daec0a5d'],
  ],
  jovian: [
    ['0x3ba4007f5c922fbb33c454b41ea7a1f11e83df2c', '0x5f885ca815d2cf27a203123e50b8ae204fdca910b6995d90b2d7700cbb9240d1'],
    ['0x4f1db3c6abd250ba86e0928471a8f7db3afd88f1', '0xe9fc7c96c4db0d6078e3d359d7e8c982c350a513cb2c31121adf5e1e8a446614'],
  ],
}
const gasPriceOracle = parseAddress('0x420000000000000000000000000000000000000f')
const implementationSlot = parseHash('0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc')
const slot = (index: number): Hash => parseHash(`0x${index.toString(16).padStart(64, '0')}`)
const asAddress = (word: bigint): string => `0x${word.toString(16).padStart(40, '0')}`

const network = networkOf('base')
const start = network.config.genesis.l2TimeSec
const scalars = (1n << 248n) | (810_949n << 32n) | 1_368n
const systemConfig: SystemConfig = { ...network.config.genesis.systemConfig, scalar: scalars, overhead: 188n }
const origin = { hash: slot(0xa1), header: headerOf({ number: 5, timestamp: start, baseFeePerGas: 9_000_000_000n, excessBlobGas: 0n }) }

/** Schedule with all forks up to Canyon at genesis, later ones at the given blocks. */
function scheduleOf(blocks: Partial<Record<Fork, number>>): ForkSchedule {
  const early = forks.slice(0, forks.indexOf('canyon') + 1).map((fork) => [fork, 0])
  return { ...Object.fromEntries(early), ...Object.fromEntries(Object.entries(blocks).map(([fork, block]) => [fork, start + 2 * block])) }
}

type Chain = { readonly blocks: readonly BuiltBlock[]; readonly reads: (number: number) => WorldReads; readonly config: RollupConfig }

/** Builds blocks with the attributes and upgrades of their forks, with the system config after each. `users`: transactions by block number. */
function follow(
  genesis: Genesis,
  schedule: ForkSchedule,
  count: number,
  users: Readonly<Record<number, readonly Uint8Array[]>> = {},
  l1Changes: Partial<SystemConfig> = {},
): Chain {
  const config: RollupConfig = { ...network.config, schedule }
  const deps = { evm: sharedEvm, config, senders: createSenders({ maxBytes: 10_000 }) }
  const blocks: BuiltBlock[] = [builtGenesis({ genesis, config })]
  let l1: SystemConfig = { ...systemConfig, ...l1Changes }
  for (let number = 1; number <= count; number++) {
    const below = blocks[number - 1]
    if (below === undefined) throw new Error('no parent')
    const { header, hash } = below.block
    const timestamp = header.timestamp + 2
    const times = { parentTimestamp: header.timestamp, timestamp, sequenceNumber: number }
    const isAt = (fork: Fork): boolean => isActive(schedule, fork, timestamp)
    const result = buildBlock(
      deps,
      { header, hash, state: below.state },
      {
        timestamp,
        prevRandao: slot(7),
        suggestedFeeRecipient: sequencerFeeVault,
        withdrawals: [],
        ...(isAt('ecotone') && { parentBeaconBlockRoot: slot(0xbeac0 + number) }),
        transactions: [
          encodeL1Attributes(config, origin, l1, times),
          ...upgradeTransactionsAt(schedule, header.timestamp, timestamp),
          ...(users[number] ?? []),
        ],
        noTxPool: true,
        gasLimit: 30_000_000n,
        ...(isAt('holocene') && { eip1559Params: new Uint8Array(8) }),
        ...(isAt('jovian') && { minBaseFee: 0n }),
      },
    )
    if (result.kind === 'invalid') throw new Error(result.reason)
    const { block } = result
    blocks.push({ block, state: overlay(below.state, block.diff, block.trie, { number, hash: block.hash }) })
    l1 = { ...systemConfigOf(config, payloadOfBlock(block)), ...l1Changes }
  }
  const at = (number: number): BuiltBlock => blocks[number] ?? blocks[0] ?? never()
  return { blocks, config, reads: (number) => createWorldReads(at(number).state, at(number).block.header.stateRoot) }
}

function never(): never {
  throw new Error('block not found')
}

const formatOf = ({ block }: BuiltBlock): string => l1AttributesIn(block).format
const failures = ({ blocks }: Chain): number[] =>
  blocks.flatMap(({ block }) => block.executed.flatMap(({ receipt }, index) => (receipt.succeeded ? [] : [block.header.number, index])))

/** Result of a view function of the price oracle after the chain's last block; 0 for a function that does not exist. */
function ask({ blocks, config }: Chain, signature: string, words: readonly bigint[]): bigint {
  const last = blocks.at(-1) ?? never()
  const { header } = last.block
  const env = {
    ...{ chainId: 8453n, number: header.number + 1, timestamp: header.timestamp, beneficiary: zeroAddress, prevRandao: zeroHash },
    ...{ gasLimit: 30_000_000n, baseFee: 0n, blobBaseFee: 1n },
  }
  const session = sharedEvm.open(last.state.view, env, evmRulesAt(config.schedule, header.timestamp))
  session.beginTransaction({ origin: zeroAddress, gasPrice: 0n, blobHashes: [], warm: [] })
  const data = concatBytes(keccak256Text(signature).subarray(0, 4), ...words.map((word) => bytesFromBigint(word, 32)))
  const outcome = session.run({ caller: zeroAddress, to: gasPriceOracle, value: 0n, data, gas: 30_000_000n })
  return outcome.kind === 'success' ? bigintFromBytes(outcome.output) : 0n
}

function wordsOf(data: Uint8Array): bigint[] {
  const padded = new Uint8Array(Math.ceil(data.length / 32) * 32)
  padded.set(data)
  return Array.from({ length: padded.length / 32 }, (_, i) => bigintFromBytes(padded.subarray(32 * i, 32 * i + 32)))
}

/** L1 fee that the oracle must return. Its input is unsigned, and it adds 68 bytes for the signature; in Fjord to the compressed size. */
function expectedL1Fee(rule: L1FeeRule, params: L1FeeParams, data: Uint8Array): bigint {
  if (rule !== 'fjord') return l1DataFee(rule, params, concatBytes(data, new Uint8Array(68).fill(1))).fee
  const size = 836_500n * BigInt(fastLzLength(data) + 68) - 42_585_600n
  const perByte = 16n * params.baseFee * params.baseFeeScalar + params.blobBaseFee * params.blobBaseFeeScalar
  return ((size < 100_000_000n ? 100_000_000n : size) * perByte) / 1_000_000_000_000n
}

describe("block/execution: forks on the contracts of Base's genesis", () => {
  let genesis: Genesis
  beforeAll(() => {
    const base = network.genesis()
    genesis = { ...base, accounts: [...base.accounts, genesisAccount(accountOf('alice'), { balance: 10n ** 18n })] }
  })

  it.each<[string, Partial<Record<Fork, number>>, string[]]>([
    [
      'each in its own block',
      { delta: 2, ecotone: 2, fjord: 3, granite: 4, holocene: 5, isthmus: 6, jovian: 7 },
      ['bedrock', 'bedrock', 'ecotone', 'ecotone', 'ecotone', 'ecotone', 'isthmus', 'jovian', 'jovian'],
    ],
    [
      'two by two',
      { delta: 2, ecotone: 2, fjord: 2, granite: 3, holocene: 3, isthmus: 4, jovian: 4 },
      ['bedrock', 'bedrock', 'ecotone', 'ecotone', 'jovian', 'jovian', 'jovian', 'jovian', 'jovian'],
    ],
    [
      'all at once',
      { delta: 2, ecotone: 2, fjord: 2, granite: 2, holocene: 2, isthmus: 2, jovian: 2 },
      ['bedrock', 'bedrock', 'jovian', 'jovian', 'jovian', 'jovian', 'jovian', 'jovian', 'jovian'],
    ],
  ])('%s: deploys the code of every upgrade, and writes L1Block in the format of its present code', (_what, at, formats) => {
    const chain = follow(genesis, scheduleOf(at), 9)
    expect(failures(chain)).toEqual([])
    expect(chain.blocks.slice(1).map(formatOf)).toEqual(formats)
    const reads = chain.reads(9)
    for (const [address, codeHash] of Object.values(deployed).flat()) {
      expect([address, reads.account(parseAddress(address))?.codeHash]).toEqual([address, codeHash])
    }
    expect(asAddress(reads.slot(l1BlockAddress, implementationSlot))).toBe(deployed.jovian?.[0]?.[0])
    expect(asAddress(reads.slot(gasPriceOracle, implementationSlot))).toBe(deployed.jovian?.[1]?.[0])
    // Jovian's 400 for a scalar that L1 never set, in slot 8 at offset 12
    expect(reads.slot(l1BlockAddress, slot(8))).toBe(400n << 96n)
    // Ecotone, Fjord, Isthmus and Jovian are active in the oracle, slot 0
    expect(reads.slot(gasPriceOracle, slot(0)) & 0xffff_ffffn).toBe(0x0101_0101n)
  })

  it('stores the block roots from the block after the deployment of their contracts', () => {
    const { reads, blocks } = follow(genesis, scheduleOf({ ecotone: 2, fjord: 2, granite: 2, holocene: 2, isthmus: 3 }), 4)
    const [time2, time3] = [2, 3].map((number) => (start + 2 * number) % 8_191)
    expect(reads(2).slot(beaconRootsContract, slot(time2 ?? 0))).toBe(0n)
    expect(reads(3).slot(beaconRootsContract, slot(time3 ?? 0))).toBe(BigInt(start + 6))
    expect(reads(3).slot(beaconRootsContract, slot((time3 ?? 0) + 8_191))).toBe(BigInt(slot(0xbeac3)))
    expect(reads(3).slot(historyStorageContract, slot(2))).toBe(0n)
    expect(reads(4).slot(historyStorageContract, slot(3))).toBe(BigInt(blocks[3]?.block.hash ?? 0))
  })

  it("prices L1 data by Bedrock's formula in the first Ecotone block, even when Fjord begins with it", () => {
    const [first, second] = [0n, 1n].map((nonce) => signedBy('alice', { chainId: 8453n, nonce, maxFeePerGas: 10n ** 10n }))
    if (first === undefined || second === undefined) return never()
    const { reads } = follow(genesis, scheduleOf({ ecotone: 1, fjord: 1 }), 2, { 1: [first], 2: [second] }, { scalar: 684_000n })
    const earned = [1, 2].map((number) => reads(number).account(l1FeeVault)?.balance ?? 0n)
    const calldataGas = first.reduce((sum, byte) => sum + (byte === 0 ? 4n : 16n), 0n)
    const bedrock = ((calldataGas + 188n) * 9_000_000_000n * 684_000n) / 1_000_000n
    // at least 100 bytes; a scalar of version 0 has no price for blobs
    const fjord = (100_000_000n * 16n * 9_000_000_000n * 684_000n) / 1_000_000_000_000n
    expect(earned).toEqual([bedrock, bedrock + fjord])
  })

  it.each<[Fork, L1FeeRule, OperatorFeeRule]>([
    ['ecotone', 'ecotone', 'none'],
    ['fjord', 'fjord', 'none'],
    ['isthmus', 'fjord', 'isthmus'],
    ['jovian', 'fjord', 'jovian'],
  ])("%s: charges the fees that the chain's price oracle returns", (last, l1Rule, operatorRule) => {
    const later: readonly Fork[] = ['delta', 'ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian']
    const at = Object.fromEntries(later.slice(0, later.indexOf(last) + 1).map((fork) => [fork, 1]))
    const chain = follow(genesis, scheduleOf(at), 2, {}, { operatorFeeScalar: 4_000_000_001, operatorFeeConstant: 987_654_321n })
    const prices = readL1BlockFees(chain.reads(2), chain.config.schedule, start + 4)
    for (const gas of [0n, 1n, 249n, 21_000n, 30_000_001n]) {
      expect(ask(chain, `getOperatorFee(uint256)`, [gas])).toBe(operatorFee(operatorRule, prices.operatorFee, gas))
    }
    for (const length of [1, 40, 150, 3_000]) {
      const data = Uint8Array.from({ length }, (_, i) => (i * i * 31) & 0xff & (i % 7))
      const words = [32n, BigInt(length), ...wordsOf(data)]
      expect([length, ask(chain, 'getL1Fee(bytes)', words)]).toEqual([length, expectedL1Fee(l1Rule, prices.dataFee, data)])
    }
  })
})
