import { NonceManager, parseEther as parseEtherByEthers } from 'ethers'
import { createPublicClient, type Hex, http, keccak256, parseEther, parseGwei, type ReplacementReturnType, toHex } from 'viem'
import { generatePrivateKey, nonceManager, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { ethersProvider, ethersWallet, eventually, newcomers, type Person, viemL2, viemWallet } from './people.ts'

let somebody: () => Person
const stranger = (): Hex => privateKeyToAddress(generatePrivateKey())

beforeAll(async () => {
  somebody = await newcomers(0, 16)
})

describe('viem', () => {
  it.concurrent.each([
    ['legacy', { type: 'legacy' }],
    ['eip2930', { type: 'eip2930', accessList: [{ address: `0x${'42'.repeat(20)}`, storageKeys: [`0x${'01'.repeat(32)}`] }] }],
    ['eip1559', { type: 'eip1559' }],
    ['the default', {}],
  ] as const)('sends a transaction of type %s, waits for its receipt, reads the balances', async (_name, fields) => {
    const { key, address } = somebody()
    const to = stranger()
    const value = parseEther('1.5')
    const hash = await viemWallet(key).sendTransaction({ to, value, ...fields } as never)
    const receipt = await viemL2.waitForTransactionReceipt({ hash })
    const type = 'type' in fields ? fields.type : 'eip1559'
    expect(receipt).toMatchObject({
      status: 'success',
      type,
      from: address.toLowerCase(),
      to: to.toLowerCase(),
      contractAddress: null,
      logs: [],
    })
    expect(receipt.gasUsed).toBe(type === 'eip2930' ? 25_300n : 21_000n)
    expect(await viemL2.getBalance({ address: to })).toBe(value)
    const spent = receipt.gasUsed * receipt.effectiveGasPrice + (receipt.l1Fee ?? 0n)
    const left = await viemL2.getBalance({ address, blockNumber: receipt.blockNumber })
    expect(parseEther('10') - left - value - spent).toBe(0n)
    expect(await viemL2.getTransactionCount({ address })).toBe(1)
    const tx = await viemL2.getTransaction({ hash })
    expect(tx).toMatchObject({ hash, type, value, nonce: 0, blockNumber: receipt.blockNumber, transactionIndex: receipt.transactionIndex })
    const { transactions } = await viemL2.getBlock({ blockHash: receipt.blockHash })
    expect(transactions[receipt.transactionIndex]).toBe(hash)
  })

  it.concurrent('waits for confirmations', async () => {
    const { key } = somebody()
    const hash = await viemWallet(key).sendTransaction({ to: stranger(), value: 1n })
    const { blockNumber } = await viemL2.waitForTransactionReceipt({ hash, confirmations: 3 })
    expect(await viemL2.getBlockNumber({ cacheTime: 0 })).toBeGreaterThanOrEqual(blockNumber + 2n)
    expect(await viemL2.getTransactionConfirmations({ hash })).toBeGreaterThanOrEqual(3n)
  })

  it.concurrent('sends forty at once with its nonce manager: all are mined in order', async () => {
    const { key, address } = somebody()
    const wallet = viemWallet(key)
    const account = privateKeyToAccount(key, { nonceManager })
    const hashes = await Promise.all(Array.from({ length: 40 }, () => wallet.sendTransaction({ account, to: stranger(), value: 1n })))
    const receipts = await Promise.all(hashes.map((hash) => viemL2.waitForTransactionReceipt({ hash })))
    expect(receipts.every(({ status }) => status === 'success')).toBe(true)
    const txs = await Promise.all(hashes.map((hash) => viemL2.getTransaction({ hash })))
    expect(txs.map(({ nonce }) => nonce).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, at) => at))
    const order = txs
      .toSorted((a, b) => a.nonce - b.nonce)
      .map(({ blockNumber, transactionIndex }) => Number(blockNumber) * 10_000 + Number(transactionIndex))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(await viemL2.getTransactionCount({ address })).toBe(40)
  })

  it.concurrent('sends a later nonce first: it waits for the earlier one', async () => {
    const { key, address } = somebody()
    const wallet = viemWallet(key)
    const later = await wallet.sendTransaction({ to: stranger(), value: 2n, nonce: 1 })
    const waiting = await viemL2.getTransaction({ hash: later })
    expect(waiting).toMatchObject({ nonce: 1, blockNumber: null, blockHash: null, transactionIndex: null })
    expect(await viemL2.getTransactionCount({ address, blockTag: 'pending' })).toBe(0)
    const first = await wallet.sendTransaction({ to: stranger(), value: 1n, nonce: 0 })
    expect(await viemL2.getTransactionCount({ address, blockTag: 'pending' })).toBe(2)
    const [one, two] = await Promise.all([first, later].map((hash) => viemL2.waitForTransactionReceipt({ hash })))
    expect([one?.status, two?.status]).toEqual(['success', 'success'])
  })

  it.concurrent('learns that the awaited transaction was replaced', async () => {
    const { key } = somebody()
    const wallet = viemWallet(key)
    const to = stranger()
    const fees = { maxFeePerGas: parseGwei('2'), maxPriorityFeePerGas: parseGwei('1'), gas: 21_000n }
    const hash = await wallet.sendTransaction({ to, value: 1n, nonce: 1, ...fees })
    let replacement: ReplacementReturnType | undefined
    const seen: string[] = []
    const onFetchRequest = (_: Request, { body }: RequestInit): void => void seen.push(String(body))
    const client = createPublicClient({ chain: viemL2.chain, transport: http(undefined, { onFetchRequest }), pollingInterval: 200 })
    const waiting = client.waitForTransactionReceipt({
      hash,
      onReplaced: (told) => {
        replacement = told
      },
    })
    await eventually(() => seen.find((body) => body.includes('eth_getTransactionByHash')))
    const more = { maxFeePerGas: parseGwei('3'), maxPriorityFeePerGas: parseGwei('1.5'), gas: 21_000n }
    const other = await wallet.sendTransaction({ to, value: 2n, nonce: 1, ...more })
    await wallet.sendTransaction({ to, value: 0n, nonce: 0, ...fees })
    const receipt = await waiting
    expect(receipt.transactionHash).toBe(other)
    expect(replacement).toMatchObject({ reason: 'replaced', replacedTransaction: { hash }, transaction: { hash: other, value: 2n } })
    expect(await viemL2.getBalance({ address: to })).toBe(2n)
  })

  it.concurrent('estimates fees: EIP-1559, legacy, history, blob base fee', async () => {
    const { key } = somebody()
    const { baseFeePerGas } = await viemL2.getBlock()
    const fees = await viemL2.estimateFeesPerGas()
    expect(fees.maxFeePerGas).toBeGreaterThan(baseFeePerGas ?? 0n)
    expect(fees.maxFeePerGas).toBeGreaterThanOrEqual(fees.maxPriorityFeePerGas)
    expect(await viemL2.estimateMaxPriorityFeePerGas()).toBeGreaterThan(0n)
    expect((await viemL2.estimateFeesPerGas({ type: 'legacy' })).gasPrice).toBeGreaterThan(0n)
    const gasPrice = await viemL2.getGasPrice()
    const { baseFeePerGas: baseFeeAfter } = await viemL2.getBlock() // of that block or a later one: it falls in blocks with little gas
    expect(gasPrice).toBeGreaterThanOrEqual(baseFeeAfter ?? 0n)
    const history = await viemL2.getFeeHistory({ blockCount: 4, rewardPercentiles: [10, 50, 90] })
    expect(history.baseFeePerGas.length).toBe(history.gasUsedRatio.length + 1)
    expect(history.reward?.every((row) => row.length === 3)).toBe(true)
    const receipt = await viemL2.waitForTransactionReceipt({
      hash: await viemWallet(key).sendTransaction({ to: stranger(), value: 1n, ...fees }),
    })
    const mined = await viemL2.getBlock({ blockHash: receipt.blockHash })
    expect(receipt.effectiveGasPrice - (mined.baseFeePerGas ?? 0n)).toBe(fees.maxPriorityFeePerGas)
  })

  it.concurrent('prepares and signs locally, sends the raw bytes, and gets the same hash', async () => {
    const { key } = somebody()
    const wallet = viemWallet(key)
    const request = await wallet.prepareTransactionRequest({ to: stranger(), value: 3n, data: toHex('hello') })
    const raw = await wallet.signTransaction(request)
    const hash = await viemL2.sendRawTransaction({ serializedTransaction: raw })
    expect(hash).toBe(keccak256(raw))
    const receipt = await viemL2.waitForTransactionReceipt({ hash })
    expect(receipt.status).toBe('success')
    expect((await viemL2.getTransaction({ hash })).input).toBe(toHex('hello'))
  })
})

describe('ethers', () => {
  it.concurrent.each([0, 1, 2])('sends a transaction of type %i, waits, reads the balances', async (type) => {
    const { key, address } = somebody()
    const to = stranger()
    const wallet = ethersWallet(key)
    const value = parseEtherByEthers('1.5')
    const sent = await wallet.sendTransaction({ to, value, type })
    const receipt = await sent.wait()
    expect(receipt).toMatchObject({ status: 1, type, hash: sent.hash, to: expect.stringMatching(new RegExp(to, 'i')) })
    expect(await wallet.provider?.getBalance(to)).toBe(value)
    expect(await wallet.provider?.getTransactionCount(address)).toBe(1)
    const tx = await wallet.provider?.getTransaction(sent.hash)
    expect(tx).toMatchObject({ type, value, blockNumber: receipt?.blockNumber })
    const block = await wallet.provider?.getBlock(receipt?.blockHash ?? '', true)
    expect(block?.getPrefetchedTransaction(sent.hash).hash).toBe(sent.hash)
    wallet.provider?.destroy()
  })

  it.concurrent('sends thirty at once with its nonce manager', async () => {
    const { key, address } = somebody()
    const provider = ethersProvider()
    const signer = new NonceManager(ethersWallet(key, provider))
    const sent = await Promise.all(Array.from({ length: 30 }, () => signer.sendTransaction({ to: stranger(), value: 1n })))
    const receipts = await Promise.all(sent.map((one) => one.wait()))
    expect(receipts.map((receipt) => receipt?.status)).toEqual(Array.from({ length: 30 }, () => 1))
    // requested directly: ethers caches a result for 250 ms, and its waits requested this one before the block existed
    expect(Number(await provider.send('eth_getTransactionCount', [address, 'latest']))).toBe(30)
    provider.destroy()
  })

  it.concurrent('estimates fees', async () => {
    const provider = ethersProvider()
    const before = await provider.getBlockNumber()
    const fees = await provider.getFeeData()
    const after = await provider.getBlockNumber()
    const numbers = Array.from({ length: after - before + 1 }, (_, at) => before + at)
    const baseFees = await Promise.all(numbers.map(async (number) => (await provider.getBlock(number))?.baseFeePerGas ?? 0n))
    expect(fees.gasPrice).toBeGreaterThanOrEqual(baseFees.at(-1) ?? 0n)
    expect(baseFees.map((baseFee) => baseFee * 2n + (fees.maxPriorityFeePerGas ?? 0n))).toContain(fees.maxFeePerGas)
    expect(fees.maxPriorityFeePerGas).toBeGreaterThan(0n)
    expect(await provider.estimateGas({ to: stranger(), value: 0n })).toBe(21_000n)
    provider.destroy()
  })
})
