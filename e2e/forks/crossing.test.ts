import { type Hex, hexToBigInt, keccak256, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../../src/devnet/startDevnet.ts'
import { blocksOf, type SeenBlock } from '../../test/independent/blocks.ts'
import { type Carried, type InboxContents, readInbox } from '../../test/independent/inbox.ts'
import { compileLab } from '../flows/lab.ts'
import { type AzulDeeds, azulDeeds, checkCalls } from './azul.ts'
import { type B20Deeds, b20Deeds } from './b20.ts'
import { checkBlock, forkAt, isActive, type L1Story, l1StoryOf, operatorFeeOf, placeOf, systemSender } from './checks.ts'
import { type Cast, cast, keepSending, kinds } from './deeds.ts'
import { checkBaseTimeState, checkConfig, checkScaling } from './denim.ts'
import { checkDeposit, type DepositView, type Found, l2Of } from './deposits.ts'
import { type Block, type BlockWithReceipts, readBlobs, readBlocks, rpcOf } from './reader.ts'
import { forkNames, type Rollup, rollupOf } from './rules.ts'

/** seconds between two forks, and more before the first, for deployments */
const [everySec, headStartSec] = [14, 10]
const phases = ['bedrock', ...forkNames] as const
type Phase = (typeof phases)[number]
const baseTime = '0x4200000000000000000000000000000000000030'
const messagePasser = '0x4200000000000000000000000000000000000016'
const passerAbi = parseAbi(['function initiateWithdrawal(address to, uint256 gasLimit, bytes data) payable'])

let devnet: Devnet
let rollup: Rollup
let actors: Cast
let lab: Hex
/** L1 transactions of each phase, by kind of deposit */
const deposited = new Map<Phase, ReadonlyMap<string, Hex>>()
/** one payment of each phase, from an account without other transactions */
const payments = new Map<Phase, Hex>()
const withdrawals: Hex[] = []
let ofAzul: AzulDeeds
let ofB20: B20Deeds

let sequenced: readonly BlockWithReceipts[]
let derived: readonly BlockWithReceipts[]
let story: L1Story
let inbox: InboxContents

const nowSec = (): number => Date.now() / 1_000
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const forkOffsets = Object.fromEntries(forkNames.map((fork, at) => [fork, headStartSec + (at + 1) * everySec]))
const startOf = (phase: Phase): number => (phase === 'bedrock' ? rollup.genesis.l2_time : rollup[`${phase}_time`])

async function until(isSo: () => boolean | Promise<boolean>, what: string, withinSec: number): Promise<void> {
  const end = nowSec() + withinSec
  while (!(await isSo())) {
    if (nowSec() > end) throw new Error(`${what}: not within ${withinSec} s; ${JSON.stringify(devnet.status())}`)
    await sleep(100)
  }
}

/** Config updates on L1 at the start of a phase: every kind of update at least once, the batcher's key changed and restored. */
async function configure(phase: Phase): Promise<void> {
  const { configure: set } = actors
  const other = `0x${'0'.repeat(24)}${'77'.repeat(20)}`
  const batcher = `0x${rollup.genesis.system_config.batcherAddr.slice(2).padStart(64, '0')}`
  switch (phase) {
    case 'bedrock':
      await set('setGasConfig', 2_100n, 1_000_000n)
      return
    case 'canyon':
      await set('setGasLimit', 60_000_000n)
      return
    case 'delta':
      await set('setUnsafeBlockSigner', `0x${'66'.repeat(20)}`)
      return
    case 'ecotone':
      await set('setGasConfigEcotone', 1_368, 810_949)
      return
    case 'fjord':
      await set('setBatcherHash', other)
      return
    case 'granite':
      await set('setBatcherHash', batcher)
      await set('setGasLimit', 90_000_000n)
      return
    case 'holocene':
      await set('setEIP1559Params', 100, 4)
      return
    case 'isthmus':
      await set('setOperatorFeeScalars', 5_000, 1_000_000n)
      return
    case 'jovian':
      await set('setMinBaseFee', 2_000_000n)
      await set('setDAFootprintGasScalar', 200)
      await set('setOperatorFeeScalars', 20, 7_000_000n)
      return
    case 'denim':
      await set('setGasLimit', 45_000_000n)
  }
}

async function act(phase: Phase): Promise<void> {
  await until(() => nowSec() >= startOf(phase) + 1.5, `the time of ${phase}`, 3 * everySec)
  if (phase === 'beryl' || phase === 'cobalt' || phase === 'denim') await ofB20.act(phase)
  const beneficiary: Hex = `0x${phases.indexOf(phase).toString(16).padStart(2, '0').repeat(20)}`
  deposited.set(phase, await actors.depositAll(lab, beneficiary))
  await configure(phase)
  const { fees } = actors
  payments.set(phase, await actors.walletOnL2(5).sendTransaction({ to: beneficiary, value: 10n ** 15n, gas: 21_000n, ...fees }))
  const call = { address: messagePasser, abi: passerAbi, functionName: 'initiateWithdrawal', args: [beneficiary, 100_000n, '0x'] } as const
  if (phase === 'jovian' || phase === 'azul') await ofAzul.act(phase)
  withdrawals.push(await actors.walletOnL2(6).writeContract({ ...call, value: 3n, gas: 300_000n, ...fees }))
}

/** Returns all transactions to the inbox from the batcher's address of the time. */
async function readPosted(): Promise<Carried[]> {
  const posted: Carried[] = []
  for (const [number, { block }] of story.blocks.entries()) {
    const batcher = story.configs[number]?.batcher ?? '0x'
    for (const { from, to, type, input, blobVersionedHashes = [] } of block.transactions) {
      if (to?.toLowerCase() !== rollup.batch_inbox_address.toLowerCase() || from.toLowerCase() !== batcher.toLowerCase()) continue
      if (type === '0x3') posted.push({ kind: 'blobs', blobs: await readBlobs(devnet.urls.l1, number, blobVersionedHashes) })
      else posted.push({ kind: 'calldata', data: Buffer.from(input.slice(2), 'hex') })
    }
  }
  return posted
}

beforeAll(async () => {
  const compiled = compileLab() // takes seconds, so it runs before the forks' clock starts
  devnet = await startDevnet({ blockTimeSec: 1, fork: forkOffsets, dataAvailability: 'auto' })
  void devnet.ended.then((end) => console.error('the devnet has ended', end))
  rollup = rollupOf(await rpcOf(devnet.urls.rollup)<Parameters<typeof rollupOf>[0]>('optimism_rollupConfig'))
  actors = cast(devnet, compiled)
  lab = await actors.deployLab()
  await actors.deployDepositor()
  ofAzul = await azulDeeds(actors)
  ofB20 = b20Deeds(actors)
  const stop = new AbortController()
  const sending = keepSending(actors, rollup, lab, stop.signal)
  sending.catch(() => stop.abort())
  for (const phase of phases) await act(phase)
  const lastDeeds = Number(await rpcOf(devnet.urls.l1)<Hex>('eth_blockNumber')) + 2
  const origin = async (): Promise<number> => placeOf(await rpcOf(devnet.urls.rpc)<Block>('eth_getBlockByNumber', 'latest', true)).origin
  await until(async () => (await origin()) > lastDeeds, `L2 blocks of L1 block ${lastDeeds}`, 60)
  stop.abort()
  await sending
  const last = devnet.status().sequencer.unsafe
  await until(() => devnet.status().verifier.safe >= last, `the verifier's safe head at ${last}`, 60)
  const l1 = rpcOf(devnet.urls.l1)
  sequenced = await readBlocks(rpcOf(devnet.urls.rpc), 0, last)
  derived = await readBlocks(rpcOf(devnet.urls.verifier), 0, last)
  story = l1StoryOf(rollup, await readBlocks(l1, 0, Number(await l1<Hex>('eth_blockNumber'))))
  inbox = readInbox(await readPosted())
}, 600_000)

afterAll(async () => {
  await devnet?.[Symbol.asyncDispose]()
})

/** L2 blocks by their fork. */
function blocksIn(phase: Phase): readonly BlockWithReceipts[] {
  return sequenced.slice(1).filter(({ block }) => forkAt(rollup, Number(block.timestamp)) === phase)
}

/** Returns the number of the first block of a fork. */
const firstOf = (fork: (typeof forkNames)[number]): number =>
  sequenced.findIndex(({ block }) => isActive(rollup, fork, Number(block.timestamp)))

const depositView = (): DepositView => ({ story, rollup, actors, lab, receiptOf })

const receiptOf = (hash: Hex): Found | undefined => {
  for (const at of sequenced) {
    const receipt = at.receipts.find(({ transactionHash }) => transactionHash === hash)
    if (receipt) return { receipt, at }
  }
  return undefined
}

/** A block as a batch on L1 has it, and the sequenced block. */
type PostedBlock = { readonly batchVersion: number; readonly said: SeenBlock; readonly number: number; readonly block: Block }

/** Returns the blocks of all batches on L1, except those newer than the blocks that were read. */
function postedBlocks(): readonly PostedBlock[] {
  const chain = { chainId: rollup.l2_chain_id, genesisTime: BigInt(rollup.genesis.l2_time), blockTime: BigInt(rollup.block_time) }
  const children = new Map<Hex | undefined, number>(sequenced.map(({ block }) => [block.hash, Number(block.number) + 1]))
  // five Denim blocks have one timestamp, but each names its parent
  const numberOf = ({ timestamp, parentHash }: SeenBlock): number =>
    isActive(rollup, 'denim', Number(timestamp))
      ? (children.get(parentHash) ?? sequenced.length)
      : Number(timestamp - chain.genesisTime) / rollup.block_time
  return inbox.channels.flatMap(({ batches }) =>
    batches.flatMap((batch) =>
      blocksOf(batch, chain).flatMap((said) => {
        const number = numberOf(said)
        const block = sequenced[number]?.block
        return block === undefined ? [] : [{ batchVersion: batch.batchVersion, said, number, block }]
      }),
    ),
  )
}

describe('a devnet crosses every fork from Bedrock to Denim', () => {
  it('gives the sequencer and the verifier, which derives them, the same blocks and receipts', () => {
    expect(devnet.status().agreement.kind).toBe('agrees')
    expect(derived.length).toBe(sequenced.length)
    for (const [number, one] of sequenced.entries()) expect(derived[number], `block ${number}`).toEqual(one)
  })

  it('follows the rules of the fork in every block: header, base fee, L1 attributes, deposits, upgrade transactions, receipts', () => {
    let systemNonce = 0
    const firstDenim = firstOf('denim')
    const firstDenimOrigin = placeOf(sequenced[firstDenim]?.block ?? expect.fail('no Denim block')).origin
    for (const [number, one] of sequenced.entries()) {
      const parent = sequenced[number - 1]
      if (parent !== undefined)
        checkBlock(rollup, story, one, parent.block, systemNonce, number < firstDenim ? undefined : firstDenimOrigin)
      systemNonce += one.block.transactions.filter(({ from }) => from === systemSender).length
    }
  })

  it.each(forkNames)('has the last block before %s, the first and the next one', (fork) => {
    const times = sequenced.map(({ block }) => Number(block.timestamp) - rollup[`${fork}_time`])
    expect(times).toEqual(expect.arrayContaining([-1, 0, 1]))
  })

  it.each(phases)('%s: executes every kind of deposit as expected', (phase) => {
    const all = [...(deposited.get(phase) ?? [])]
    expect(all.length).toBe(Object.keys(kinds).length + 1)
    for (const [kind, l1Hash] of all) checkDeposit(depositView(), phase, kind, l1Hash)
  })

  it('executes deposits of every kind under the rules of each fork', () => {
    const seen = new Set<string>()
    for (const [, txs] of deposited) {
      for (const [kind, l1Hash] of txs)
        for (const { at } of l2Of(depositView(), l1Hash)) seen.add(`${forkAt(rollup, Number(at.block.timestamp))} ${kind}`)
    }
    const wanted = phases.flatMap((phase) => Object.keys(kinds).map((kind) => `${phase} ${kind}`))
    expect(wanted.filter((one) => !seen.has(one))).toEqual([])
  })

  it('executes several deposits of one block, and of one transaction', () => {
    const counts = story.deposits.map((hashes) => hashes.length)
    expect(Math.max(...counts)).toBeGreaterThanOrEqual(6)
  })

  it('applies every kind of config update on L2', () => {
    const updates = story.blocks.flatMap(({ receipts }) =>
      receipts.flatMap(({ logs }) => logs.filter(({ address }) => address.toLowerCase() === rollup.l1_system_config_address.toLowerCase())),
    )
    expect([...new Set(updates.map(({ topics }) => Number(topics[2])))].toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    const last = sequenced.at(-1)
    if (last === undefined) throw new Error('no blocks')
    expect(Number(last.block.gasLimit)).toBe(45_000_000)
    expect(last.block.extraData).toBe(`0x01000003e800000004${(2_000_000).toString(16).padStart(16, '0')}`)
    const { origin } = placeOf(last.block)
    expect(story.configs[origin]).toMatchObject({ operatorFeeScalar: 20, operatorFeeConstant: 7_000_000n, daFootprintGasScalar: 200 })
    expect(new Set(story.configs.map(({ batcher }) => batcher)).size).toBe(2)
  })

  it('includes transactions of users in every fork, but not in activation blocks', () => {
    for (const phase of phases) {
      const blocks = blocksIn(phase)
      const withUsers = blocks.filter(({ block }) => block.transactions.some(({ type }) => type !== '0x7e'))
      expect(withUsers.length, `${phase}: of ${blocks.length}`).toBeGreaterThanOrEqual(Math.min(6, blocks.length - 3))
    }
    const types = new Set(blocksIn('jovian').flatMap(({ block }) => block.transactions.map(({ type }) => type)))
    expect([...types].toSorted()).toEqual(['0x0', '0x1', '0x2', '0x4', '0x7e'])
  })

  it.each(phases)('%s: charges for a payment the amounts in its receipt, the operator fee included', async (phase) => {
    const hash = payments.get(phase)
    const found = hash && receiptOf(hash)
    if (!found) throw new Error('the payment is missing')
    const { receipt, at } = found
    expect(receipt).toMatchObject({ status: '0x1', gasUsed: '0x5208' })
    const isJovian = isActive(rollup, 'jovian', Number(at.block.timestamp))
    const fees = 21_000n * BigInt(receipt.effectiveGasPrice) + BigInt(receipt.l1Fee ?? 0) + operatorFeeOf(receipt, isJovian)
    const number = hexToBigInt(at.block.number)
    const address = receipt.from
    const [before, after] = [
      await actors.l2.getBalance({ address, blockNumber: number - 1n }),
      await actors.l2.getBalance({ address, blockNumber: number }),
    ]
    expect(before - after).toBe(10n ** 15n + fees)
  })

  it('charges an operator fee in Isthmus and in Jovian', () => {
    for (const phase of ['isthmus', 'jovian', 'azul', 'beryl', 'cobalt', 'denim'] as const) {
      const receipts = blocksIn(phase).flatMap((one) => one.receipts)
      expect(receipts.some(({ operatorFeeScalar }) => operatorFeeScalar !== undefined && operatorFeeScalar !== '0x0')).toBe(true)
    }
  })

  it('applies Azul from its first block on, on both nodes: CLZ, the prices of precompiles', async () => {
    for (const url of [devnet.urls.rpc, devnet.urls.verifier]) await checkCalls(rpcOf(url), ofAzul, firstOf('azul'))
  })

  it('gives transactions CLZ and at most 16,777,216 gas in Azul', () => {
    ofAzul.checkTransactions((hash) => receiptOf(hash)?.receipt)
    const most = (['jovian', 'azul'] as const).map((phase) =>
      Math.max(...blocksIn(phase).flatMap(({ block }) => block.transactions.map(({ gas }) => Number(gas)))),
    )
    expect(most).toEqual([16_777_217, 16_777_216])
  })

  it.each(['azul', 'beryl', 'cobalt', 'denim'] as const)('has no upgrade transactions in the first block of %s', (fork) => {
    const [first] = blocksIn(fork)
    const [info, ...rest] = first?.block.transactions ?? []
    expect(info?.input.slice(0, 10)).toBe('0x3db6be2b')
    expect(rest.filter(({ type, to }) => type === '0x7e' && to === baseTime)).toHaveLength(fork === 'denim' ? 1 : 0)
  })

  it('runs native contracts from Beryl on, with the functions of Cobalt and the rules of Denim from their first blocks on', async () => {
    ofB20.checkTransactions((hash) => receiptOf(hash)?.receipt)
    const first = { beryl: firstOf('beryl'), cobalt: firstOf('cobalt'), denim: firstOf('denim') }
    for (const url of [devnet.urls.rpc, devnet.urls.verifier]) await ofB20.checkCalls(rpcOf(url), first, sequenced.length - 1)
  })

  it('has five blocks a second from Denim on, a tenth of the gas limit and ten times the denominator', async () => {
    const first = firstOf('denim')
    const seconds = [-1, 0, 1, 4, 5, 9, 10].map((at) => Number(sequenced[first + at]?.block.timestamp) - rollup.denim_time)
    expect(seconds).toEqual([-1, 0, 0, 0, 1, 1, 2])
    checkScaling(sequenced[first - 1]?.block, sequenced[first]?.block)
    for (const url of [devnet.urls.rpc, devnet.urls.verifier]) await checkBaseTimeState(rpcOf(url), rollup, first)
  })

  it('returns Denim in eth_config, and no fork after it', async () => {
    for (const url of [devnet.urls.rpc, devnet.urls.verifier]) await checkConfig(rpcOf(url), rollup.denim_time)
  })

  it('has the root of withdrawals in the header from Isthmus on, which both nodes prove', async () => {
    const blocks = (['isthmus', 'jovian', 'azul', 'beryl', 'cobalt', 'denim'] as const).flatMap((fork) => blocksIn(fork).slice(0, 12))
    expect(new Set(blocks.map(({ block }) => block.withdrawalsRoot)).size).toBeGreaterThanOrEqual(2)
    for (const { block } of blocks) {
      for (const url of [devnet.urls.rpc, devnet.urls.verifier]) {
        const proof = await rpcOf(url)<{ storageHash: Hex; accountProof: Hex[] }>('eth_getProof', messagePasser, [], block.number)
        expect(proof.storageHash, `block ${Number(block.number)}`).toBe(block.withdrawalsRoot)
        expect(keccak256(proof.accountProof[0] ?? '0x')).toBe(block.stateRoot)
      }
    }
    for (const hash of withdrawals) expect(receiptOf(hash)?.receipt.status).toBe('0x1')
  })

  it('leaves accounts that only deposit with the sum of their deposits', async () => {
    const address = actors.person
    const own = sequenced.flatMap(({ block, receipts }) =>
      block.transactions.flatMap((tx, at) => (tx.from.toLowerCase() === address.toLowerCase() ? [{ tx, receipt: receipts[at] }] : [])),
    )
    const minted = own.reduce((sum, { tx }) => sum + BigInt(tx.mint ?? 0), 0n)
    const spent = own.reduce((sum, { tx, receipt }) => sum + (receipt?.status === '0x1' && tx.to !== tx.from ? BigInt(tx.value) : 0n), 0n)
    expect(await actors.l2.getBalance({ address, blockNumber: BigInt(sequenced.length - 1) })).toBe(10n ** 22n + minted - spent)
    expect(own.map(({ receipt }) => Number(receipt?.depositNonce))).toEqual(own.map((_, at) => at))
  })

  it('posts blocks before Denim in span batches, and Denim blocks in single batches alone', () => {
    const formsOf = (fork: Phase): readonly number[] => [
      ...new Set(
        postedBlocks().flatMap(({ block, batchVersion }) => (forkAt(rollup, Number(block.timestamp)) === fork ? [batchVersion] : [])),
      ),
    ]
    expect((['azul', 'beryl', 'denim'] as const).map(formsOf)).toEqual([[1], [1], [0]])
    // the last blocks of Cobalt may share a channel with Denim blocks
    expect(formsOf('cobalt')).toContain(1)
  })

  it('posts these blocks to L1, as another decoder reads them, in the forms of each fork', () => {
    const seen = new Set<number>()
    for (const { said, number, block } of postedBlocks()) {
      seen.add(number)
      const { origin } = placeOf(block)
      expect(Number(said.l1OriginNumber), `origin of block ${number}`).toBe(origin)
      expect(
        said.transactions.map((raw) => keccak256(raw)),
        `transactions of block ${number}`,
      ).toEqual(block.transactions.filter(({ type }) => type !== '0x7e').map(({ hash }) => hash))
      if (said.parentHash !== undefined) expect(block.parentHash.startsWith(said.parentHash), `parent of block ${number}`).toBe(true)
      const originHash = story.blocks[origin]?.block.hash
      if (said.l1OriginHash !== undefined) expect(originHash?.startsWith(said.l1OriginHash), `origin of block ${number}`).toBe(true)
    }
    expect(sequenced.slice(1).flatMap((_, at) => (seen.has(at + 1) ? [] : [at + 1]))).toEqual([])
    const forms = new Set(
      inbox.channels.map(({ batches, compression, carrier }) => `${batches[0]?.batchVersion} ${compression} ${carrier}`),
    )
    expect([...forms]).toEqual(expect.arrayContaining(['0 zlib calldata', '1 zlib calldata', '1 brotli blobs']))
    expect(inbox.refused).toEqual([])
  })
})
