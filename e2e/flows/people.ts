import { Contract, ContractFactory, JsonRpcProvider, Wallet, WebSocketProvider } from 'ethers'
import { createPublicClient, createWalletClient, type Hex, http, parseEther, webSocket } from 'viem'
import { generatePrivateKey, nonceManager, privateKeyToAccount } from 'viem/accounts'
import { publicActionsL1, publicActionsL2, walletActionsL1, walletActionsL2 } from 'viem/op-stack'
import { inject } from 'vitest'
import { compileLab } from './lab.ts'
import { type FlowNet, l1ChainOf, l2ChainOf } from './net.ts'

/** Polling interval of the libraries, in ms: their defaults are for other block times. */
const pollingInterval = 200

export const net: FlowNet = inject('net')

export const viemL2 = createPublicClient({ chain: l2ChainOf(net), transport: http(), pollingInterval }).extend(publicActionsL2())
export const viemL1 = createPublicClient({ chain: l1ChainOf(net), transport: http(), pollingInterval }).extend(publicActionsL1())
/** over WebSocket; the caller closes the connection */
export const viemWs = () => createPublicClient({ chain: l2ChainOf(net), transport: webSocket(), pollingInterval })

export const viemWallet = (key: Hex) =>
  createWalletClient({ account: privateKeyToAccount(key), chain: l2ChainOf(net), transport: http(), pollingInterval }).extend(
    walletActionsL2(),
  )
export const viemL1Wallet = (key: Hex) =>
  createWalletClient({ account: privateKeyToAccount(key), chain: l1ChainOf(net), transport: http(), pollingInterval }).extend(
    walletActionsL1(),
  )

export function ethersProvider(): JsonRpcProvider {
  return new JsonRpcProvider(net.rpcUrl, undefined, { pollingInterval })
}
export const ethersSocket = (): WebSocketProvider => new WebSocketProvider(net.wsUrl)
export const ethersWallet = (key: Hex, provider: JsonRpcProvider | WebSocketProvider = ethersProvider()): Wallet =>
  new Wallet(key, provider)

export type Person = { readonly key: Hex; readonly address: Hex }

/**
 * New accounts with 10 ETH each, so that tests run side by side.
 * @param from index of the devnet's account that pays, a different one for each file
 */
async function people(from: number, count: number): Promise<Person[]> {
  const payer = net.accounts[from]
  if (payer === undefined) throw new RangeError(`the devnet has no account ${from}`)
  const account = privateKeyToAccount(payer.privateKey, { nonceManager })
  const wallet = createWalletClient({ account, chain: l2ChainOf(net), transport: http() })
  const made = Array.from({ length: count }, () => {
    const key = generatePrivateKey()
    return { key, address: privateKeyToAccount(key).address }
  })
  const hashes = await Promise.all(made.map(({ address }) => wallet.sendTransaction({ to: address, value: parseEther('10') })))
  await Promise.all(hashes.map((hash) => viemL2.waitForTransactionReceipt({ hash })))
  return made
}

let compiled: ReturnType<typeof compileLab> | undefined
export const contracts = (): ReturnType<typeof compileLab> => {
  compiled ??= compileLab()
  return compiled
}

/** Deploys a Lab with viem. */
export async function deployLab(key: Hex, first = 5n): Promise<Hex> {
  const { abi, bytecode } = contracts().lab
  const hash = await viemWallet(key).deployContract({ abi, bytecode, args: [first] })
  const { contractAddress, status } = await viemL2.waitForTransactionReceipt({ hash })
  if (!contractAddress || status !== 'success') throw new Error(`the deployment ${status}`)
  return contractAddress
}

/** Deploys a Lab with ethers. */
export async function deployLabByEthers(wallet: Wallet, first = 5n): Promise<Contract> {
  const { abi, bytecode } = contracts().lab
  const made = await new ContractFactory(abi as never, bytecode, wallet).deploy(first)
  await made.waitForDeployment()
  return new Contract(await made.getAddress(), abi as never, wallet)
}

/** Repeats a request until it has a result; the test's time-out ends it. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Returns the error of a rejected promise. */
export async function failure(action: Promise<unknown>): Promise<Error> {
  try {
    await action
  } catch (error) {
    if (error instanceof Error) return error
    throw new Error('the thrown value is not an Error', { cause: error })
  }
  throw new Error('it did not fail')
}

/** Returns `people` one by one: each test has its own account. @throws RangeError when there are no more */
export async function newcomers(from: number, count: number): Promise<() => Person> {
  const all = await people(from, count)
  return () => {
    const person = all.shift()
    if (person === undefined) throw new RangeError('more people needed')
    return person
  }
}
