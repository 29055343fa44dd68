import { ethers } from 'ethers'
import { encodeFunctionData, type Hex, parseEther, parseEventLogs, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { labAbi } from './lab.ts'
import { deployLab, ethersProvider, ethersWallet, newcomers, type Person, viemL2, viemWallet } from './people.ts'

let somebody: () => Person
let lab: Hex
const stranger = (): Hex => privateKeyToAddress(generatePrivateKey())
const delegation = (to: Hex): Hex => `0xef0100${to.slice(2).toLowerCase()}`

/** Encodes two payments by the account's own code. */
const payTwo = (one: Hex, two: Hex): Hex =>
  encodeFunctionData({
    abi: labAbi,
    functionName: 'batch',
    args: [
      [
        { to: one, value: 11n, data: '0x' },
        { to: two, value: 22n, data: '0x' },
      ],
    ],
  })

beforeAll(async () => {
  somebody = await newcomers(3, 8)
  lab = await deployLab(somebody().key)
})

describe('viem', () => {
  it.concurrent('an account delegates to code and runs it in the same transaction; later it removes the delegation', async () => {
    const { key, address } = somebody()
    const wallet = viemWallet(key)
    const [one, two] = [stranger(), stranger()]
    const authorization = await wallet.signAuthorization({ contractAddress: lab, executor: 'self' })
    const hash = await wallet.sendTransaction({ authorizationList: [authorization], to: address, data: payTwo(one, two) })
    const receipt = await viemL2.waitForTransactionReceipt({ hash })
    expect(receipt).toMatchObject({ status: 'success', type: 'eip7702' })
    expect(parseEventLogs({ abi: labAbi, logs: receipt.logs })).toMatchObject([
      { eventName: 'Received', address: address.toLowerCase(), args: { from: address, value: 2n } },
    ])
    expect([await viemL2.getBalance({ address: one }), await viemL2.getBalance({ address: two })]).toEqual([11n, 22n])
    expect(await viemL2.getCode({ address })).toBe(delegation(lab))
    expect((await viemL2.getDelegation({ address }))?.toLowerCase()).toBe(lab.toLowerCase())
    expect(await viemL2.getTransactionCount({ address })).toBe(2)
    expect(await viemL2.getTransaction({ hash })).toMatchObject({
      type: 'eip7702',
      authorizationList: [{ address: lab.toLowerCase(), chainId: viemL2.chain.id, nonce: 1 }],
    })
    const back = await wallet.signAuthorization({ contractAddress: zeroAddress, executor: 'self' })
    await viemL2.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ authorizationList: [back], to: address }) })
    expect(await viemL2.getCode({ address })).toBeUndefined()
  })

  it.concurrent('another account pays: the account itself has no ETH', async () => {
    const payer = viemWallet(somebody().key)
    const poor = privateKeyToAccount(generatePrivateKey())
    const to = stranger()
    const authorization = await payer.signAuthorization({ account: poor, contractAddress: lab })
    const data = encodeFunctionData({ abi: labAbi, functionName: 'batch', args: [[{ to, value: parseEther('1'), data: '0x' }]] })
    const request = { authorizationList: [authorization], to: poor.address, value: parseEther('1'), data } as const
    expect(await viemL2.estimateGas({ account: payer.account, ...request })).toBeGreaterThan(46_000n)
    const receipt = await viemL2.waitForTransactionReceipt({ hash: await payer.sendTransaction(request) })
    expect(receipt.status).toBe('success')
    expect(await viemL2.getBalance({ address: to })).toBe(parseEther('1'))
    expect(await viemL2.getCode({ address: poor.address })).toBe(delegation(lab))
    expect(await viemL2.getTransactionCount({ address: poor.address })).toBe(1)
  })
})

describe('ethers', () => {
  it.concurrent('authorize and sendTransaction of type 4', async () => {
    const { key, address } = somebody()
    const provider = ethersProvider()
    const wallet = ethersWallet(key, provider)
    const [one, two] = [stranger(), stranger()]
    const nonce = await provider.getTransactionCount(address)
    const authorization = await wallet.authorize({ address: lab, nonce: nonce + 1 })
    const sent = await wallet.sendTransaction({ type: 4, to: address, data: payTwo(one, two), authorizationList: [authorization] })
    const receipt = await sent.wait()
    expect([receipt?.status, receipt?.type]).toEqual([1, 4])
    expect(await provider.getCode(address)).toBe(delegation(lab))
    expect(await provider.getBalance(two)).toBe(22n)
    const tx = await provider.getTransaction(sent.hash)
    expect(tx?.authorizationList?.map((entry) => [entry.address, entry.nonce, entry.chainId])).toEqual([
      [ethers.getAddress(lab), 1n, BigInt(viemL2.chain.id)],
    ])
    provider.destroy()
  })
})
