import { isError, toQuantity } from 'ethers'
import {
  BaseError,
  ContractFunctionRevertedError,
  ExecutionRevertedError,
  FeeCapTooLowError,
  type Hex,
  InsufficientFundsError,
  IntrinsicGasTooLowError,
  NonceTooLowError,
  parseEther,
  parseGwei,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { labAbi } from './lab.ts'
import {
  deployLab,
  deployLabByEthers,
  ethersProvider,
  ethersWallet,
  failure,
  newcomers,
  type Person,
  viemL2,
  viemWallet,
} from './people.ts'

let somebody: () => Person
let lab: Hex
const stranger = (): Hex => privateKeyToAddress(generatePrivateKey())

beforeAll(async () => {
  somebody = await newcomers(1, 16)
  lab = await deployLab(somebody().key)
})

type ErrorClass<T extends Error> = abstract new (...args: never[]) => T

/** Returns the cause of a class; the test fails with the whole text when there is none. */
async function caused<T extends Error>(action: Promise<unknown>, kind: ErrorClass<T>): Promise<T> {
  const error = await failure(action)
  const found = error instanceof BaseError ? error.walk((cause) => cause instanceof kind) : null
  if (found === null) throw new Error(`not caused by ${kind.name}`, { cause: error })
  return found as T
}

describe('viem', () => {
  it.concurrent('reports insufficient funds in the estimate and when sending', async () => {
    const poor = viemWallet(generatePrivateKey())
    await caused(poor.sendTransaction({ to: stranger(), value: parseEther('1') }), InsufficientFundsError)
    await caused(poor.sendTransaction({ to: stranger(), value: parseEther('1'), gas: 21_000n }), InsufficientFundsError)
    await caused(
      viemWallet(somebody().key).sendTransaction({ to: stranger(), value: parseEther('11'), gas: 21_000n }),
      InsufficientFundsError,
    )
  })

  it.concurrent('reports a nonce too low, also for a transaction that was sent before', async () => {
    const wallet = viemWallet(somebody().key)
    const request = await wallet.prepareTransactionRequest({ to: stranger(), value: 1n })
    const serializedTransaction = await wallet.signTransaction(request)
    const hash = await viemL2.sendRawTransaction({ serializedTransaction })
    await viemL2.waitForTransactionReceipt({ hash })
    await caused(wallet.sendTransaction({ to: stranger(), value: 1n, nonce: 0, gas: 21_000n }), NonceTooLowError)
    expect((await failure(viemL2.sendRawTransaction({ serializedTransaction }))).message).toMatch(/nonce too low|already known/i)
  })

  it.concurrent('reports an underpriced replacement', async () => {
    const wallet = viemWallet(somebody().key)
    const fees = { maxFeePerGas: parseGwei('2'), maxPriorityFeePerGas: parseGwei('1'), gas: 21_000n, nonce: 1 }
    await wallet.sendTransaction({ to: stranger(), value: 1n, ...fees })
    const slightly = { maxFeePerGas: parseGwei('2.05'), maxPriorityFeePerGas: parseGwei('1.05') }
    const error = await failure(wallet.sendTransaction({ to: stranger(), value: 1n, ...fees, ...slightly }))
    expect(error.message).toMatch(/replacement transaction underpriced/i)
    await wallet.sendTransaction({ to: stranger(), value: 1n, nonce: 0 })
  })

  it.concurrent('reports too little gas for the transaction itself, and a fee below the base fee in a call', async () => {
    const { key, address } = somebody()
    await caused(viemWallet(key).sendTransaction({ to: stranger(), data: '0x01', gas: 21_000n }), IntrinsicGasTooLowError)
    await caused(viemL2.call({ account: address, to: stranger(), maxFeePerGas: 1n, maxPriorityFeePerGas: 0n }), FeeCapTooLowError)
  })

  it.concurrent('reports the reason of a revert: text, custom error, panic; in a call, a simulation and an estimate', async () => {
    const { address } = somebody()
    const contract = { address: lab, abi: labAbi, account: address } as const
    const refused = await caused(
      viemL2.readContract({ ...contract, functionName: 'refuse', args: ['not today'] }),
      ContractFunctionRevertedError,
    )
    expect(refused.reason).toBe('not today')
    const panic = await caused(viemL2.readContract({ ...contract, functionName: 'divide', args: [1n, 0n] }), ContractFunctionRevertedError)
    expect(panic.data?.args).toEqual([0x12n])
    const store = { ...contract, functionName: 'store', args: [1n, 1_001n, ''] } as const
    for (const action of [viemL2.simulateContract(store), viemL2.estimateContractGas(store)]) {
      const { data } = await caused(action, ContractFunctionRevertedError)
      expect([data?.errorName, data?.args]).toEqual(['TooLarge', [1_001n, 1_000n]])
    }
    await caused(viemL2.estimateGas({ account: address, to: lab, data: '0xdeadbeef' }), ExecutionRevertedError)
  })

  it.concurrent('a transaction that reverts has a receipt with that status, and has paid', async () => {
    const { key, address } = somebody()
    const hash = await viemWallet(key).writeContract({
      address: lab,
      abi: labAbi,
      functionName: 'store',
      args: [1n, 2_000n, ''],
      gas: 100_000n,
    })
    const receipt = await viemL2.waitForTransactionReceipt({ hash })
    expect([receipt.status, receipt.logs]).toEqual(['reverted', []])
    expect(await viemL2.getBalance({ address })).toBeLessThan(parseEther('10'))
  })

  it.concurrent('reports a missing transaction and receipt', async () => {
    const hash: Hex = `0x${'12'.repeat(32)}`
    await caused(viemL2.getTransaction({ hash }), TransactionNotFoundError)
    await caused(viemL2.getTransactionReceipt({ hash }), TransactionReceiptNotFoundError)
  })

  it.concurrent('refuses a transaction of another chain, and bytes that are not a transaction', async () => {
    const wallet = viemWallet(somebody().key)
    const request = await wallet.prepareTransactionRequest({ to: stranger(), value: 1n })
    const other = await wallet.account.signTransaction({ ...request, chainId: 12_345 } as never)
    expect((await failure(viemL2.sendRawTransaction({ serializedTransaction: other as Hex }))).message).toMatch(/invalid chain id/i)
    await failure(viemL2.sendRawTransaction({ serializedTransaction: '0x02c0' }))
  })
})

describe('ethers', () => {
  /** Returns ethers' code of an error. */
  const codeOf = async (action: Promise<unknown>): Promise<unknown> => ((await failure(action)) as Error & { code?: unknown }).code

  it.concurrent('INSUFFICIENT_FUNDS', async () => {
    const wallet = ethersWallet(generatePrivateKey())
    expect(await codeOf(wallet.sendTransaction({ to: stranger(), value: 1n, gasLimit: 21_000n }))).toBe('INSUFFICIENT_FUNDS')
    expect(await codeOf(wallet.sendTransaction({ to: stranger(), value: 1n }))).toBe('INSUFFICIENT_FUNDS')
  })

  it.concurrent('NONCE_EXPIRED', async () => {
    const wallet = ethersWallet(somebody().key)
    await (await wallet.sendTransaction({ to: stranger(), value: 1n })).wait()
    expect(await codeOf(wallet.sendTransaction({ to: stranger(), value: 1n, nonce: 0, gasLimit: 21_000n }))).toBe('NONCE_EXPIRED')
  })

  it.concurrent('reports REPLACEMENT_UNDERPRICED, and TRANSACTION_REPLACED for a replacement with a higher fee', async () => {
    const provider = ethersProvider()
    const wallet = ethersWallet(somebody().key, provider)
    const fees = { gasLimit: 21_000n, maxFeePerGas: parseGwei('2'), maxPriorityFeePerGas: parseGwei('1') }
    const sent = await wallet.sendTransaction({ to: stranger(), value: 1n, nonce: 1, ...fees })
    expect(await codeOf(wallet.sendTransaction({ to: stranger(), value: 2n, nonce: 1, ...fees, maxFeePerGas: parseGwei('2.01') }))).toBe(
      'REPLACEMENT_UNDERPRICED',
    )
    const replaced = failure(sent.wait(1, 30_000))
    const more = { ...fees, maxFeePerGas: parseGwei('4'), maxPriorityFeePerGas: parseGwei('2') }
    const other = await wallet.sendTransaction({ to: stranger(), value: 2n, nonce: 1, ...more })
    await wallet.sendTransaction({ to: stranger(), value: 1n, nonce: 0, ...fees })
    const error = await replaced
    expect(isError(error, 'TRANSACTION_REPLACED') && [error.reason, error.replacement.hash]).toEqual(['replaced', other.hash])
    provider.destroy()
  })

  it.concurrent('reports CALL_EXCEPTION with its reason: text, custom error, panic; in a call, an estimate and a receipt', async () => {
    const provider = ethersProvider()
    const contract = await deployLabByEthers(ethersWallet(somebody().key, provider))
    const refused = await failure(contract.getFunction('refuse').staticCall('not today'))
    expect(isError(refused, 'CALL_EXCEPTION') && [refused.action, refused.reason]).toEqual(['call', 'not today'])
    const panic = await failure(contract.getFunction('divide').staticCall(1n, 0n))
    expect(isError(panic, 'CALL_EXCEPTION') && [panic.revert?.name, Number(panic.revert?.args[0])]).toEqual(['Panic', 0x12])
    const store = contract.getFunction('store')
    const estimate = await failure(store.estimateGas(1n, 1_001n, ''))
    const parsed = isError(estimate, 'CALL_EXCEPTION') ? contract.interface.parseError(estimate.data ?? '0x') : null // ethers itself does so for calls only
    expect([parsed?.name, ...(parsed?.args ?? [])]).toEqual(['TooLarge', 1_001n, 1_000n])
    const sent = await store.send(1n, 1_001n, '', { gasLimit: 100_000n })
    const mined = await failure(sent.wait())
    expect(isError(mined, 'CALL_EXCEPTION') && [mined.receipt?.status, mined.receipt?.hash]).toEqual([0, sent.hash])
    provider.destroy()
  })

  it.concurrent('returns null for a missing block, transaction and receipt', async () => {
    const provider = ethersProvider()
    const hash = `0x${'12'.repeat(32)}`
    expect([await provider.getTransaction(hash), await provider.getTransactionReceipt(hash)]).toEqual([null, null])
    expect(await provider.send('eth_getBlockByNumber', [toQuantity(10n ** 9n), false])).toBeNull()
    provider.destroy()
  })
})
