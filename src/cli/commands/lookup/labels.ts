import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { nativeNameAt } from '#nativeContracts/addresses'
import type { Address } from '#types/ids'
import type { NodeClient } from '../../localNode/nodeClient.ts'

/** Predeploys by the last byte of their address 0x42…. @see specs protocol/predeploys.md */
const predeploys: Readonly<Record<string, string>> = {
  '06': 'WETH9',
  '07': 'L2CrossDomainMessenger',
  '0f': 'GasPriceOracle',
  '10': 'L2StandardBridge',
  '11': 'SequencerFeeVault',
  '12': 'OptimismMintableERC20Factory',
  '13': 'L1BlockNumber',
  '14': 'L2ERC721Bridge',
  '15': 'L1Block',
  '16': 'L2ToL1MessagePasser',
  '17': 'OptimismMintableERC721Factory',
  '18': 'ProxyAdmin',
  '19': 'BaseFeeVault',
  '1a': 'L1FeeVault',
  '1b': 'OperatorFeeVault',
  '20': 'SchemaRegistry',
  '21': 'EAS',
  '30': 'BaseTime',
}
const depositor = '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001'
const zero = `0x${'00'.repeat(20)}`

/** Returns the name of a fixed address; undefined: it has none. The contracts of Denim count, because a name does not depend on the block. */
function fixedName(address: string): string | undefined {
  if (address === depositor) return 'L1 attributes depositor'
  if (address === zero) return undefined
  const [, last] = /^0x42(?:00){18}(..)$/.exec(address) ?? []
  return last === undefined ? nativeNameAt('denim', address as Address) : predeploys[last]
}

const signatures = [
  'Transfer(address,address,uint256)',
  'Approval(address,address,uint256)',
  'Memo(address,bytes32)',
  'B20Created(address,uint8,string,string,uint8,bytes)',
  'PolicyCreated(uint64,address,uint8)',
  'RoleGranted(bytes32,address,address)',
  'RoleRevoked(bytes32,address,address)',
  'MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)',
  'SentMessage(address,address,bytes,uint256,uint256)',
  'RelayedMessage(bytes32)',
  'Deposit(address,uint256)',
  'Withdrawal(address,uint256)',
] as const

const events: ReadonlyMap<string, string> = new Map(signatures.map((signature) => [toHex(keccak256Text(signature)), signature]))

/** Returns the signature of a known event by its first topic. */
export const eventName = (topic: unknown): string | undefined => (typeof topic === 'string' ? events.get(topic.toLowerCase()) : undefined)

/** Facts of a B20 token. */
export type TokenFacts = {
  readonly name: string
  readonly symbol: string
  readonly decimals: number | null
  readonly totalSupply: string | null
}

const maxNameChars = 100
const calls = { name: '0x06fdde03', symbol: '0x95d89b41', decimals: '0x313ce567', totalSupply: '0x18160ddd' } as const

/** Decodes an ABI-encoded string; undefined: malformed. */
function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2}){64,}$/i.test(value)) return undefined
  const bytes = Buffer.from(value.slice(2), 'hex')
  const length = Number(BigInt(`0x${bytes.subarray(32, 64).toString('hex')}`))
  return length > bytes.length - 64
    ? undefined
    : bytes
        .subarray(64, 64 + length)
        .toString('utf8')
        .slice(0, maxNameChars)
}

const integerOf = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value) ? BigInt(value) : undefined

export const isTokenAddress = (address: string): boolean => /^B20(?:Asset|Stablecoin)$/.test(fixedName(address) ?? '')

/** Reads the facts of a B20 token; undefined: there is no token at the address. */
export async function readToken(client: NodeClient, address: string, block = 'latest'): Promise<TokenFacts | undefined> {
  const answers = await client.batch(Object.values(calls).map((data) => ({ method: 'eth_call', params: [{ to: address, data }, block] })))
  if (answers.kind === 'silent') return undefined
  const [name, symbol, decimals, supply] = answers.value.map((answer) => (answer.kind === 'result' ? answer.result : undefined))
  const [nameText, symbolText] = [textOf(name), textOf(symbol)]
  if (nameText === undefined || symbolText === undefined) return undefined
  const digits = integerOf(decimals)
  return {
    name: nameText,
    symbol: symbolText,
    decimals: digits === undefined ? null : Number(digits),
    totalSupply: integerOf(supply)?.toString() ?? null,
  }
}

/** Most tokens whose symbol is read for one view. */
const maxTokens = 20

/** Names of addresses in a view: predeploys, native contracts, B20 tokens by their symbol. */
export class Labels {
  readonly #symbols = new Map<string, string>()

  /** Reads the symbols of the tokens among these addresses. */
  static async of(client: NodeClient, addresses: readonly unknown[]): Promise<Labels> {
    const labels = new Labels()
    const texts = addresses.filter((address) => typeof address === 'string').map((address) => address.toLowerCase())
    const tokens = [...new Set(texts.filter(isTokenAddress))].slice(0, maxTokens)
    await Promise.all(
      tokens.map(async (address) => {
        const token = await readToken(client, address)
        if (token) labels.#symbols.set(address, token.symbol)
      }),
    )
    return labels
  }

  /** Returns the name of an address; undefined: it has none. */
  nameOf(address: unknown): string | undefined {
    if (typeof address !== 'string') return undefined
    const name = fixedName(address.toLowerCase())
    const symbol = this.#symbols.get(address.toLowerCase())
    return symbol === undefined ? name : `B20 ${symbol}`
  }

  /** Formats an address with its name. */
  show(address: unknown): string {
    if (typeof address !== 'string') return '–'
    const name = this.nameOf(address)
    return name === undefined ? address : `${address} (${name})`
  }
}
