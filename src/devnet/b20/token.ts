import { factoryAddress } from '#nativeContracts/addresses'
import { type Address, type Hash, parseAddress } from '#types/ids'
import { encodeCall, encodeStruct, eventTopic } from '../abi.ts'
import { devnetFault } from '../faults.ts'
import type { DevnetAccount } from '../ports.ts'
import type { RemoteDevnet } from '../remoteDevnet.ts'
import { type SentReceipt, sendOnL2 } from '../wallet.ts'
import { mintRole, type Scope, scopeHash, scopeNames } from './names.ts'
import { readContract, requireToken } from './read.ts'

/** Kind of a token: an asset has its own decimals, a stablecoin a currency and six decimals. */
export type TokenKind = { readonly kind: 'asset'; readonly decimals: number } | { readonly kind: 'stablecoin'; readonly currency: string }

export type NewToken = {
  readonly name: string
  readonly symbol: string
  /** holds the roles of an admin and of a minter */
  readonly admin: Address
  readonly salt: Hash
  readonly of: TokenKind
}

/** Version of the parameters of a creation. */
const paramsVersion = 1
const createdTopic = eventTopic('B20Created(address,uint8,string,string,uint8,bytes)')

function creationOf({ name, symbol, admin, salt, of }: NewToken): Uint8Array {
  const common = [paramsVersion, name, symbol, admin]
  const params =
    of.kind === 'asset'
      ? encodeStruct('(uint8,string,string,address,uint8)', [...common, of.decimals])
      : encodeStruct('(uint8,string,string,address,string)', [...common, of.currency])
  const variant = of.kind === 'asset' ? 0 : 1
  const grant = encodeCall('grantRole(bytes32,address)', [mintRole, admin])
  return encodeCall('createB20(uint8,bytes32,bytes,bytes[])', [variant, salt, params, [grant]])
}

/** Sends a call to a contract. @throws Fault CALL_REVERTED and those of `sendOnL2` (all fatal) */
const callContract = (devnet: RemoteDevnet, account: DevnetAccount, to: Address, data: Uint8Array): Promise<SentReceipt> =>
  sendOnL2(devnet, account, { to, value: 0n, data })

/** Returns the last bytes of an indexed event parameter as an address. */
const topicAddress = (topic: Hash): Address => parseAddress(`0x${topic.slice(26)}`)

/** Creates a token. @throws Fault CALL_REVERTED and those of `sendOnL2` (all fatal) */
export async function createToken(
  devnet: RemoteDevnet,
  account: DevnetAccount,
  wanted: NewToken,
): Promise<{ readonly token: Address; readonly receipt: SentReceipt }> {
  const receipt = await callContract(devnet, account, factoryAddress, creationOf(wanted))
  const token = receipt.logs.find(({ address, topics }) => address === factoryAddress && topics[0] === createdTopic)?.topics[1]
  if (token === undefined) {
    throw devnetFault('TRANSACTION_FAILED', { hash: receipt.hash, where: 'L2, without a creation event', block: receipt.block.number })
  }
  return { token: topicAddress(token), receipt }
}

/** Returns the decimals of a token. @throws Fault NO_B20, NO_B20_TOKEN, DEVNET_RPC (all fatal) */
export async function readDecimals(devnet: RemoteDevnet, token: Address): Promise<number> {
  await requireToken(devnet, token)
  const [decimals] = await readContract(devnet, token, 'decimals()', [], '(uint8)')
  return Number(decimals)
}

/** Mints tokens. @throws Fault CALL_REVERTED and those of `sendOnL2` (all fatal) */
export const mint = (devnet: RemoteDevnet, account: DevnetAccount, token: Address, to: Address, amount: bigint): Promise<SentReceipt> =>
  callContract(devnet, account, token, encodeCall('mint(address,uint256)', [to, amount]))

/** Transfers tokens. @param memo recorded in an event; undefined: none. @throws Fault CALL_REVERTED and those of `sendOnL2` (all fatal) */
export function transfer(
  devnet: RemoteDevnet,
  account: DevnetAccount,
  token: Address,
  { to, amount, memo }: { readonly to: Address; readonly amount: bigint; readonly memo: Hash | undefined },
): Promise<SentReceipt> {
  const data =
    memo === undefined
      ? encodeCall('transfer(address,uint256)', [to, amount])
      : encodeCall('transferWithMemo(address,uint256,bytes32)', [to, amount, memo])
  return callContract(devnet, account, token, data)
}

/** Sets the policy that a token applies in a scope. @throws Fault CALL_REVERTED and those of `sendOnL2` (all fatal) */
export async function setPolicy(
  devnet: RemoteDevnet,
  account: DevnetAccount,
  token: Address,
  scope: Scope,
  id: bigint,
): Promise<SentReceipt> {
  await requireToken(devnet, token)
  return callContract(devnet, account, token, encodeCall('updatePolicy(bytes32,uint64)', [scopeHash(scope), id]))
}

export type TokenFacts = {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  /** undefined: not a stablecoin */
  readonly currency: string | undefined
  readonly supply: bigint
  readonly balances: readonly { readonly address: Address; readonly balance: bigint }[]
  readonly policies: Readonly<Record<Scope, bigint>>
}

const stablecoinPrefix = `0xb2${'00'.repeat(9)}01`

/** Reads a token and its balances. @throws Fault NO_B20, NO_B20_TOKEN, DEVNET_RPC (all fatal) */
export async function readToken(devnet: RemoteDevnet, token: Address, holders: readonly Address[]): Promise<TokenFacts> {
  const decimals = await readDecimals(devnet, token)
  const text = async (signature: string): Promise<string> => String((await readContract(devnet, token, signature, [], '(string)'))[0])
  const number = async (signature: string, values: readonly string[]): Promise<bigint> =>
    (await readContract(devnet, token, signature, values, '(uint256)'))[0] as bigint
  const policies: Record<string, bigint> = {}
  for (const scope of scopeNames) policies[scope] = await number('policyId(bytes32)', [scopeHash(scope)])
  const balances = []
  for (const address of holders) balances.push({ address, balance: await number('balanceOf(address)', [address]) })
  return {
    name: await text('name()'),
    symbol: await text('symbol()'),
    decimals,
    currency: token.startsWith(stablecoinPrefix) ? await text('currency()') : undefined,
    supply: await number('totalSupply()', []),
    balances,
    policies: policies as TokenFacts['policies'],
  }
}
