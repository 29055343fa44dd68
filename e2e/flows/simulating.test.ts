import { createPublicClient, encodeFunctionData, type Hex, http, parseEther, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { labAbi } from './lab.ts'
import { l2ChainOf } from './net.ts'
import { deployLab, ethersProvider, net, newcomers, type Person, viemL2, viemWallet } from './people.ts'

let somebody: () => Person
let lab: Hex
const stranger = (): Hex => privateKeyToAddress(generatePrivateKey())

beforeAll(async () => {
  somebody = await newcomers(0, 6)
  lab = await deployLab(somebody().key)
})

describe('viem', () => {
  it.concurrent('calls with overridden state: balance of the sender, code and slots of the contract', async () => {
    const poor = stranger()
    const slot = { slot: toHex(1, { size: 32 }), value: toHex(7, { size: 32 }) }
    const calls = await viemL2.readContract({
      address: lab,
      abi: labAbi,
      functionName: 'calls',
      stateOverride: [{ address: lab, stateDiff: [slot] }],
    })
    expect(calls).toBe(7n)
    const request = { account: poor, to: stranger(), value: parseEther('3') } as const
    await expect(viemL2.estimateGas(request)).rejects.toThrow()
    expect(await viemL2.estimateGas({ ...request, stateOverride: [{ address: poor, balance: parseEther('4') }] })).toBe(21_000n)
    const { data } = await viemL2.call({ to: poor, stateOverride: [{ address: poor, code: '0x602a5f5260205ff3' }] })
    expect(data).toBe(toHex(42, { size: 32 }))
  })

  it.concurrent('creates an access list: the slots that a call reads and writes, and its gas with them', async () => {
    const { address } = somebody()
    const data = encodeFunctionData({ abi: labAbi, functionName: 'store', args: [3n, 33n, 'listed'] })
    const { accessList, gasUsed } = await viemL2.createAccessList({ account: address, to: lab, data })
    expect(accessList.map((entry) => entry.address.toLowerCase())).toContain(lab.toLowerCase())
    expect(accessList.flatMap(({ storageKeys }) => storageKeys).length).toBeGreaterThanOrEqual(2)
    expect(gasUsed).toBeGreaterThan(21_000n)
  })

  it.concurrent('eth_simulateV1: simulates calls in successive future blocks, with logs of ether transfers', async () => {
    const { address } = somebody()
    const to = stranger()
    const store = (key: bigint, value: bigint) => ({
      ...({ to: lab, abi: labAbi, functionName: 'store', args: [key, value, 'simulated'] } as const),
      from: address,
    })
    const read = { to: lab, abi: labAbi, functionName: 'values', args: [70n] } as const
    const blocks = await viemL2.simulateBlocks({
      blocks: [
        { calls: [store(70n, 7n), { from: address, to, value: 5n }] },
        { blockOverrides: { time: 4_000_000_000n }, calls: [read, store(71n, 2_000n)] },
      ],
      traceTransfers: true,
    })
    expect(blocks.map(({ calls }) => calls.map(({ status }) => status))).toEqual([
      ['success', 'success'],
      ['success', 'failure'],
    ])
    expect(blocks[1]?.calls[0]?.result).toBe(7n)
    expect(blocks[1]?.timestamp).toBe(4_000_000_000n)
    expect(blocks[0]?.calls.map(({ logs }) => logs?.length)).toEqual([1, 1])
    const { results, assetChanges } = await viemL2.simulateCalls({ account: address, calls: [{ to, value: 9n }], traceAssetChanges: true })
    expect(results.map(({ status }) => status)).toEqual(['success'])
    expect(assetChanges.map(({ value }) => value.diff)).toContain(-9n)
  })

  it.concurrent('sends a transaction and gets its receipt in one call (EIP-7966)', async () => {
    const { key } = somebody()
    const wallet = viemWallet(key)
    const request = await wallet.prepareTransactionRequest({ to: stranger(), value: 1n })
    const serializedTransaction = await wallet.signTransaction(request)
    const receipt = await viemL2.sendRawTransactionSync({ serializedTransaction })
    expect(receipt).toMatchObject({ status: 'success', gasUsed: 21_000n })
    const again = await viemL2.getBlock({ blockNumber: receipt.blockNumber })
    expect(again.transactions).toContain(receipt.transactionHash)
  })

  it.concurrent('sends a batch of calls in one body', async () => {
    const batched = createPublicClient({ chain: l2ChainOf(net), transport: http(undefined, { batch: true }) })
    const block = await batched.getBlock()
    const [number, chainId, balance, code, gasPrice] = await Promise.all([
      batched.getBlockNumber(),
      batched.getChainId(),
      batched.getBalance({ address: somebody().address, blockNumber: block.number }),
      batched.getCode({ address: lab }),
      batched.getGasPrice(),
    ])
    expect(number).toBeGreaterThanOrEqual(block.number)
    expect([chainId, balance, code?.length]).toEqual([net.chainId, parseEther('10'), expect.any(Number)])
    expect(gasPrice).toBeGreaterThan(0n)
  })
})

describe('ethers', () => {
  it.concurrent('traces its own transaction: calls, state before, and Parity’s form', async () => {
    const { key, address } = somebody()
    const hash = await viemWallet(key).writeContract({ address: lab, abi: labAbi, functionName: 'store', args: [9n, 99n, 'traced'] })
    await viemL2.waitForTransactionReceipt({ hash })
    const provider = ethersProvider()
    const call = await provider.send('debug_traceTransaction', [hash, { tracer: 'callTracer' }])
    expect(call).toMatchObject({ type: 'CALL', from: address.toLowerCase(), to: lab.toLowerCase() })
    const before = (await provider.send('debug_traceTransaction', [hash, { tracer: 'prestateTracer' }])) as Record<string, unknown>
    expect(Object.keys(before)).toEqual(expect.arrayContaining([address.toLowerCase(), lab.toLowerCase()]))
    const traces = (await provider.send('trace_transaction', [hash])) as readonly { readonly transactionHash: string }[]
    expect(traces.map(({ transactionHash }) => transactionHash)).toEqual([hash])
    expect(await provider.send('base_transactionStatus', [hash])).toMatchObject({ detail: { state: 'included' } })
    provider.destroy()
  })
})
