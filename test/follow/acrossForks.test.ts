import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeAbiParameters, encodeFunctionData, type Hex, pad, parseAbi, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { firstDenimBlock, timeOf } from '#chainspec/blockTime'
import type { SafeBlock } from '#derive/ports'
import { serveL1 } from '#devnet/l1Server'
import { createRecordedL1 } from '#devnet/recordedL1'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { keccak256Of } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { type Node, startNode } from '#node/node'
import {
  emptyChain,
  extendChain,
  type GeneratedChain,
  postedBy,
  type TransactionsOf,
  transfersOf,
} from '#test/harness/chain/generatedChain'
import { addressOf, keyOf, sign } from '#test/harness/derive/l1'
import { rpcCall } from '#test/harness/process/cliProcess'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { readInbox } from '#test/independent/inbox'
import { type Hash, parseAddress } from '#types/ids'
import { decodeTransaction } from '#types/transaction'

/** Seconds after genesis. Denim activates between two blocks, as on Base: its first block is due a second later. */
const forks = { azul: 2, beryl: 40, cobalt: 80, denim: 121 }
const firstDenim = 61
/** Posted without block 192, which no batch has: derivation drops them and makes them empty once the sequencing window is over. */
const [missed, last] = [192, 199]
const sequencingWindowBlocks = 20
/** Number of empty blocks after the sequenced ones to wait for: those of one L1 block are 60. */
const forcedBlocks = 100

const abi = parseAbi([
  'function activate(bytes32 feature)',
  'function createB20(uint8 variant, bytes32 salt, bytes params, bytes[] initCalls) returns (address)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
])
const factory = '0xb20f000000000000000000000000000000000000'
const registry = '0x8453000000000000000000000000000000000001'
/** keccak("base.b20_asset") */
const asset = '0xcdcc772fe4cbdb1029f822861176d09e646db96723d4c1e82ddfdeb8163ef54c'
const salt = pad('0x01', { size: 32 })
/** Address by its rule: prefix, variant, nine bytes of the hash of creator and salt. */
const token = parseAddress(
  `0xb2${'00'.repeat(10)}${Buffer.from(keccak256Of(fromHex(pad(addressOf('user'), { size: 32 })), fromHex(salt)))
    .subarray(0, 9)
    .toString('hex')}`,
)

function signed(from: string, nonce: number, to: string, data: Hex): Uint8Array {
  const tx = { type: 2, chainId: 90_099n, nonce: BigInt(nonce), gasLimit: 1_000_000n, to: parseAddress(to), value: 0n, data: fromHex(data) }
  return sign({ ...tx, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, accessList: [] } as never, keyOf(from))
}

function createData(): Hex {
  const params = encodeAbiParameters(
    parseAbiParameters('(uint8 version, string name, string symbol, address admin, uint8 decimals) params'),
    [{ version: 1, name: 'Lab', symbol: 'LAB', admin: addressOf('admin'), decimals: 6 }],
  )
  const mint = encodeFunctionData({ abi, functionName: 'mint', args: [addressOf('user'), 1_000n] })
  return encodeFunctionData({ abi, functionName: 'createB20', args: [0, salt, params, [mint]] })
}

/** Transfers, and a token: created under Beryl, moved under each fork. */
const transactionsOf: TransactionsOf = (number, sent) => {
  const transfer = (): Hex => encodeFunctionData({ abi, functionName: 'transfer', args: [addressOf('admin'), 1n] })
  if (number === 25) return [signed('admin', 0, registry, encodeFunctionData({ abi, functionName: 'activate', args: [asset] }))]
  if (number === 26) return [signed('user', sent.nonce++, factory, createData())]
  if ([27, 45, 75].includes(number)) return [signed('user', sent.nonce++, token, transfer())]
  return transfersOf(number, sent)
}

const datadir = mkdtempSync(join(tmpdir(), 'basalt-across-'))
const parts = new AsyncDisposableStack()
let chain: GeneratedChain
let node: Node
/** by number */
const sequenced: (Hash | undefined)[] = []

/** Posts all blocks, but the last ones with a missed slot, and with a transaction that their sequenced forms lack. */
function postWithGap(config: GeneratedChain['config']): (made: readonly SafeBlock[]) => readonly Uint8Array[] {
  const post = postedBy(config)
  const extra = signed('admin', 1, addressOf('user'), '0x')
  const late = (made: readonly SafeBlock[]): readonly SafeBlock[] =>
    made.filter(({ ref }) => ref.number > missed).map((block) => ({ ...block, transactions: [...block.transactions, extra] }))
  return (made) => [...post(made.filter(({ ref }) => ref.number < missed)), ...post(late(made))]
}

beforeAll(async () => {
  chain = emptyChain(parts.use(createMemoryKv()), { forks, sequencingWindowBlocks })
  const { config, execution, l1, genesis } = chain
  await extendChain(chain, last, postWithGap(config), transactionsOf)
  for (let number = 0; number <= last; number++) sequenced.push((await execution.payload(number))?.blockHash)
  for (let count = 0; count < sequencingWindowBlocks + 2; count++) l1.mine()
  const recorded = createRecordedL1(l1.recording(), { head: l1.blocks.length - 1 })
  const server = parts.use(await serveL1((exchange) => recorded.reply(exchange), 0))
  const host = '127.0.0.1'
  node = parts.use(
    await startNode(
      { clock: systemClock, random: Math.random, fetch, log: silentLog },
      {
        ...{ mode: 'all', config, genesis: () => genesis, datadir, version: 'across' },
        l1: { rpcUrls: [server.url], beaconUrls: [server.url], pollMs: 200 },
        ...{ listen: { http: { host, port: 0 } }, isAdminOn: false, readyMaxLagSec: 30, minFreeBytes: 0 },
      },
    ),
  )
  const isDone = () => expect(node.execution?.published.heads.safe.number).toBeGreaterThan(last + forcedBlocks)
  await vi.waitFor(isDone, { timeout: 100_000, interval: 100 })
}, 120_000)

afterAll(async () => {
  await parts.disposeAsync()
  rmSync(datadir, { recursive: true, force: true })
})

/** Returns a block of the fresh node. */
function derived(number: number) {
  using view = node.execution?.view() ?? expect.fail('no execution half')
  const hash = view.canonicalHash(number)
  return (hash && view.block(hash)) ?? expect.fail(`block ${number} was not derived`)
}

describe('a fresh node derives a chain across Azul, Beryl, Cobalt and Denim', () => {
  it('has every sequenced block', () => {
    expect(firstDenimBlock(chain.config)).toBe(firstDenim)
    using view = node.execution?.view() ?? expect.fail('no execution half')
    expect(sequenced.map((_, number) => view.canonicalHash(number))).toEqual(sequenced)
  })

  it('reads them from span batches before Denim and from single batches after it', () => {
    const carried = chain.l1.blocks.flatMap(({ transactions }) =>
      transactions.map((raw) => ({ kind: 'calldata' as const, data: decodeTransaction(raw).data })),
    )
    const { channels, refused } = readInbox(carried)
    expect(refused).toEqual([])
    const forms = channels.map(({ batches }) => batches.map(({ batchVersion }) => batchVersion))
    expect(forms.slice(0, 3)).toEqual([[1], [1], [1]])
    expect(forms.slice(3).map((versions) => [versions.length, ...new Set(versions)])).toEqual([
      [missed - firstDenim, 0],
      [last - missed, 0],
    ])
  })

  it('divides the gas limit by ten at the boundary, once', () => {
    const limits = [firstDenim - 1, firstDenim, firstDenim + 1, last].map((number) => derived(number).block.header.gasLimit)
    const before = limits[0] ?? 0n
    expect(limits).toEqual([before, before / 10n, before / 10n, before / 10n])
  })

  it('refuses the batches after the missed slot, and forces empty blocks 200 ms apart instead', () => {
    const head = node.execution?.published.heads.safe.number ?? 0
    expect(head).toBeGreaterThan(last + forcedBlocks)
    for (let number = missed; number <= head; number++) {
      const { block } = derived(number)
      expect([number, block.transactions.length]).toEqual([number, 2])
      expect(block.header.timestamp).toBe(Math.floor(timeOf(chain.config, number) / 1000))
    }
  })

  it('has the token of Beryl, moved under Beryl, Cobalt and Denim', async () => {
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [addressOf('user')] })
    const url = node.urls.http ?? ''
    const at = async (number: number): Promise<number> =>
      Number(await rpcCall(url, 'eth_call', [{ to: token, data }, `0x${number.toString(16)}`]))
    expect([await at(26), await at(27), await at(45), await at(75), await at(last)]).toEqual([1_000, 999, 998, 997, 997])
  })
})
