import { Contract } from 'ethers'
import { type Hex, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labAbi } from './lab.ts'
import {
  contracts,
  deployLab,
  ethersProvider,
  ethersSocket,
  ethersWallet,
  eventually,
  newcomers,
  type Person,
  viemL2,
  viemWallet,
  viemWs,
} from './people.ts'

let somebody: () => Person
const stranger = (): Hex => privateKeyToAddress(generatePrivateKey())

/** One connection for all tests: viem shares it by its URL. */
const client = viemWs()

beforeAll(async () => {
  somebody = await newcomers(4, 8)
})

afterAll(async () => {
  const line = await client.transport.getRpcClient()
  line.close()
})

const areConsecutive = (numbers: readonly bigint[]): boolean =>
  numbers.every((number, at) => at === 0 || number === (numbers[at - 1] ?? 0n) + 1n)

describe('viem', () => {
  it.concurrent('receives blocks over WebSocket: each once, in order, equal to those over HTTP', async () => {
    const numbers: bigint[] = []
    const hashes: Hex[] = []
    const stop = client.watchBlockNumber({ onBlockNumber: (number) => numbers.push(number) })
    const stopBlocks = client.watchBlocks({ onBlock: (block) => void hashes.push(block.hash) })
    await eventually(() => (numbers.length >= 3 && hashes.length >= 3 ? true : undefined))
    stop()
    stopBlocks()
    expect(areConsecutive(numbers)).toBe(true)
    expect(new Set(hashes).size).toBe(hashes.length)
    for (const blockHash of hashes) expect((await viemL2.getBlock({ blockHash })).hash).toBe(blockHash)
  })

  it.concurrent('polls blocks over HTTP', async () => {
    const numbers: bigint[] = []
    const stop = viemL2.watchBlocks({ emitMissed: true, onBlock: ({ number }) => numbers.push(number) })
    await eventually(() => (numbers.length >= 3 ? true : undefined))
    stop()
    expect(areConsecutive(numbers)).toBe(true)
  })

  it.concurrent('receives events and pending transactions over WebSocket, and sends over it', async () => {
    const { key } = somebody()
    const lab = await deployLab(key)
    const values: unknown[] = []
    const pending: Hex[] = []
    const stop = client.watchContractEvent({
      address: lab,
      abi: labAbi,
      eventName: 'Stored',
      onLogs: (logs) => values.push(...logs.map(({ args, removed }) => [args.value, removed])),
    })
    const stopPending = client.watchPendingTransactions({ onTransactions: (hashes) => pending.push(...hashes) })
    await client.getBlockNumber({ cacheTime: 0 }) // its response comes after those to the subscriptions, on the same connection
    const hash = await viemWallet(key).writeContract({ address: lab, abi: labAbi, functionName: 'store', args: [1n, 6n, ''] })
    const receipt = await client.waitForTransactionReceipt({ hash })
    expect(receipt.status).toBe('success')
    await eventually(() => (values.length > 0 && pending.includes(hash) ? true : undefined))
    stop()
    stopPending()
    expect(values).toEqual([[6n, false]])
  })

  it.concurrent('uses block and pending-transaction filters over HTTP', async () => {
    const { key } = somebody()
    const blocks = await viemL2.createBlockFilter()
    const pending = await viemL2.createPendingTransactionFilter()
    const hash = await viemWallet(key).sendTransaction({ to: stranger(), value: 1n })
    const { blockHash } = await viemL2.waitForTransactionReceipt({ hash })
    expect(await viemL2.getFilterChanges({ filter: pending })).toContain(hash)
    expect(await viemL2.getFilterChanges({ filter: blocks })).toContain(blockHash)
    expect(await viemL2.uninstallFilter({ filter: blocks })).toBe(true)
    expect(await viemL2.uninstallFilter({ filter: blocks })).toBe(false)
  })
})

describe('ethers', () => {
  it.concurrent('WebSocketProvider: receives blocks, events, a whole transaction', async () => {
    const { key } = somebody()
    const provider = ethersSocket()
    const blocks: number[] = []
    await provider.on('block', (number: number) => void blocks.push(number))
    const lab = await deployLab(key)
    const wallet = ethersWallet(key, provider)
    const contract = new Contract(lab, contracts().lab.abi as never, wallet)
    const values: bigint[] = []
    await contract.on('Stored', (_by, _key, value: bigint) => void values.push(value))
    const sent = await contract.getFunction('store').send(9n, 99n, 'ws')
    const receipt = await sent.wait()
    expect(receipt?.status).toBe(1)
    await eventually(() => (values.length > 0 && blocks.length >= 2 ? true : undefined))
    expect(values).toEqual([99n])
    expect(areConsecutive(blocks.map(BigInt))).toBe(true)
    await contract.removeAllListeners()
    await provider.destroy()
  })

  it.concurrent('JsonRpcProvider: polls blocks, and pending transactions by a filter', async () => {
    const { key } = somebody()
    const provider = ethersProvider()
    const blocks: number[] = []
    const pending: string[] = []
    await provider.on('block', (number: number) => void blocks.push(number))
    await provider.on('pending', (hash: string) => void pending.push(hash))
    await eventually(() => (blocks.length >= 1 ? true : undefined))
    const sent = await ethersWallet(key, provider).sendTransaction({ to: stranger(), value: parseEther('0.1') })
    await sent.wait()
    await eventually(() => (pending.includes(sent.hash) && blocks.length >= 2 ? true : undefined))
    await provider.removeAllListeners()
    await provider.send('eth_chainId', []) // the filter is uninstalled before this request
    provider.destroy()
  })
})
