import { encodeFunctionData, type Hex, keccak256, parseEther } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import {
  extractTransactionDepositedLogs,
  getL2TransactionHashes,
  getSourceHash,
  getWithdrawalHashStorageSlot,
  getWithdrawals,
} from 'viem/op-stack'
import { beforeAll, describe, expect, it } from 'vitest'
import { labAbi } from './lab.ts'
import { deployLab, net, newcomers, type Person, viemL1, viemL1Wallet, viemL2, viemWallet } from './people.ts'

let somebody: () => Person
const stranger = (): Hex => privateKeyToAddress(generatePrivateKey())

beforeAll(async () => {
  somebody = await newcomers(5, 8)
})

/** Returns one of the devnet's accounts, which have ETH on L1. */
function depositor(at: number): { key: Hex; account: PrivateKeyAccount } {
  const found = net.accounts[at]
  if (found === undefined) throw new RangeError(`no account ${at}`)
  return { key: found.privateKey, account: privateKeyToAccount(found.privateKey) }
}

describe("viem's op-stack actions", () => {
  it.concurrent('deposits: built for L2, sent to the portal, found on L2 by the hash from its log', async () => {
    const { key, account } = depositor(6)
    const to = stranger()
    const args = await viemL2.buildDepositTransaction({ account, mint: parseEther('1.25'), to })
    const hash = await viemL1Wallet(key).depositTransaction(args as never)
    const l1Receipt = await viemL1.waitForTransactionReceipt({ hash })
    expect(l1Receipt.status).toBe('success')
    const [l2Hash] = getL2TransactionHashes(l1Receipt)
    const [log] = extractTransactionDepositedLogs(l1Receipt)
    if (l2Hash === undefined || log === undefined) throw new Error('no deposit in the receipt')
    const receipt = await viemL2.waitForTransactionReceipt({ hash: l2Hash })
    expect(receipt).toMatchObject({
      status: 'success',
      type: '0x7e',
      from: account.address.toLowerCase(),
      to: to.toLowerCase(),
      depositReceiptVersion: 1,
    })
    expect(await viemL2.getBalance({ address: to })).toBe(parseEther('1.25'))
    const sourceHash = getSourceHash({ domain: 'userDeposit', l1BlockHash: l1Receipt.blockHash, l1LogIndex: log.logIndex })
    expect(await viemL2.getTransaction({ hash: l2Hash })).toMatchObject({
      type: 'deposit',
      typeHex: '0x7e',
      mint: parseEther('1.25'),
      value: parseEther('1.25'),
      sourceHash,
      gasPrice: 0n,
    })
  })

  it.concurrent('deposits with a call: its gas is estimated on both chains', async () => {
    const { key, account } = depositor(7)
    const lab = await deployLab(somebody().key)
    const data = encodeFunctionData({ abi: labAbi, functionName: 'store', args: [8n, 88n, 'from L1'] })
    const args = await viemL2.buildDepositTransaction({ account, to: lab, data })
    expect(await viemL1.estimateDepositTransactionGas(args as never)).toBeGreaterThan(21_000n)
    const l1Receipt = await viemL1.waitForTransactionReceipt({ hash: await viemL1Wallet(key).depositTransaction(args as never) })
    const [l2Hash] = getL2TransactionHashes(l1Receipt)
    if (l2Hash === undefined) throw new Error('no deposit in the receipt')
    const receipt = await viemL2.waitForTransactionReceipt({ hash: l2Hash })
    expect(receipt.status).toBe('success')
    expect(await viemL2.getContractEvents({ address: lab, abi: labAbi, eventName: 'Stored', blockHash: receipt.blockHash })).toMatchObject([
      { args: { by: account.address, key: 8n, value: 88n, note: 'from L1' } },
    ])
  })

  it.concurrent('withdraws: initiated on L2, and proved against the root in the header', async () => {
    const { key, address } = somebody()
    const to = stranger()
    // without gas viem estimates a transfer of that value on L1 from the zero address, which has no ETH on a new L1
    const args = await viemL1.buildInitiateWithdrawal({ account: privateKeyToAccount(key), to, value: parseEther('0.5'), gas: 21_000n })
    const hash = await viemWallet(key).initiateWithdrawal(args as never)
    const receipt = await viemL2.waitForTransactionReceipt({ hash })
    expect(receipt.status).toBe('success')
    const [withdrawal] = getWithdrawals(receipt)
    if (withdrawal === undefined) throw new Error('no withdrawal in the receipt')
    expect(withdrawal).toMatchObject({ sender: address, target: to, value: parseEther('0.5'), data: '0x' })
    const slot = getWithdrawalHashStorageSlot(withdrawal)
    const { blockNumber } = receipt
    const proof = await viemL2.getProof({ address: viemL2.chain.contracts.l2ToL1MessagePasser.address, storageKeys: [slot], blockNumber })
    const block = await viemL2.getBlock({ blockNumber })
    expect(proof.storageProof).toMatchObject([{ key: slot, value: 1n }])
    const [root] = proof.storageProof[0]?.proof ?? []
    expect(keccak256(root ?? '0x')).toBe(proof.storageHash)
    expect((block as { withdrawalsRoot?: Hex }).withdrawalsRoot).toBe(proof.storageHash)
    const [stateRoot] = proof.accountProof
    expect(keccak256(stateRoot ?? '0x')).toBe(block.stateRoot)
  })

  it.concurrent('estimates the L1 fee by the GasPriceOracle, equal to that of the receipt', async () => {
    const { key, address } = somebody()
    const to = stranger()
    const request = { account: privateKeyToAccount(key), to, value: parseEther('0.1') } as const
    const l1Fee = await viemL2.estimateL1Fee(request)
    expect(l1Fee).toBeGreaterThan(0n)
    expect(await viemL2.estimateL1Gas(request)).toBeGreaterThan(0n)
    expect(await viemL2.getL1BaseFee()).toBeGreaterThan(0n)
    expect(await viemL2.estimateTotalGas(request)).toBeGreaterThan(21_000n)
    const operatorFee = await viemL2.estimateOperatorFee(request)
    expect(operatorFee).toBe(0n)
    const total = await viemL2.estimateTotalFee(request)
    expect(total).toBeGreaterThan(l1Fee)
    const receipt = await viemL2.waitForTransactionReceipt({ hash: await viemWallet(key).sendTransaction(request) })
    expect(receipt.l1Fee).toBeGreaterThan(0n)
    expect(receipt.l1GasUsed).toBeGreaterThan(0n)
    expect(receipt.l1GasPrice).toBeGreaterThan(0n)
    const paid = parseEther('10') - parseEther('0.1') - (await viemL2.getBalance({ address, blockNumber: receipt.blockNumber }))
    expect(paid).toBe(receipt.gasUsed * receipt.effectiveGasPrice + (receipt.l1Fee ?? 0n))
  })

  it.concurrent('reads a whole block: the L1 attributes first, formatted as a deposit', async () => {
    const block = await viemL2.getBlock({ includeTransactions: true })
    const [first] = block.transactions
    expect(first).toMatchObject({
      type: 'deposit',
      from: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
      to: '0x4200000000000000000000000000000000000015',
      nonce: expect.any(Number),
      sourceHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    const receipt = await viemL2.getTransactionReceipt({ hash: first?.hash ?? '0x' })
    expect(receipt).toMatchObject({ type: '0x7e', status: 'success' })
    const safe = await viemL2.getBlock({ blockTag: 'safe' })
    const finalized = await viemL2.getBlock({ blockTag: 'finalized' })
    expect(finalized.number).toBeLessThanOrEqual(safe.number)
    expect(safe.number).toBeLessThanOrEqual(block.number)
  })
})
