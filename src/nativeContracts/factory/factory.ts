import { emptyBytes } from '#lib/bytes'
import { keccak256Of } from '#lib/keccak'
import { assetFeature, requireActivated, stablecoinFeature } from '../activation/registry.ts'
import { isTokenAddress } from '../addresses.ts'
import type { AccountHandle, NativeHost } from '../host.ts'
import { paramsOf } from '../kit/abi.ts'
import { Args, type CallData, callDataOf } from '../kit/args.ts'
import { contractError, NativeRevert } from '../kit/ends.ts'
import { ContractEvent } from '../kit/events.ts'
import { FunctionTable, malformed, nativeFunction } from '../kit/functions.ts'
import { asFlag, asWord } from '../kit/results.ts'
import { bytesOf, isZero, newWord, readWord, type Word, wordOf } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'
import type { TokenVariant } from '../token/frame.ts'
import { TokenFrame } from '../token/frame.ts'
import { addRole, defaultAdminRole } from '../token/roles.ts'
import { stablecoinDecimals, tokenFunctions } from '../token/token.ts'
import { currencyParams, initializeAsset, initializeStablecoin } from './initialize.ts'

/** The version of creation parameters that the factory accepts. */
const paramsVersion = 1
const minAssetDecimals = 6
const maxAssetDecimals = 18
/** Keccak of the two words of an address. */
const gasAddressHash = 42

const tokenAlreadyExists = contractError('TokenAlreadyExists(address)')
const unsupportedVersion = contractError('UnsupportedVersion(uint8,uint8)')
const invalidDecimals = contractError('InvalidDecimals(uint8)')
const initCallFailed = contractError('InitCallFailed(uint256)')
const b20Created = new ContractEvent('B20Created(address indexed,uint8 indexed,string,string,uint8,bytes)')

const assetParams = paramsOf('asset(uint8,string,string,address,uint8)')
const stablecoinParams = paramsOf('stablecoin(uint8,string,string,address,string)')

type Frame = { readonly host: NativeHost; readonly rules: NativeRules }

const variantNumber = (variant: TokenVariant): number => (variant === 'asset' ? 0 : 1)

/** Returns the address of a token: the prefix, the variant, and nine bytes of a hash of creator and salt. */
function tokenAddress(host: NativeHost, variant: number, creator: Word, salt: Word): Word {
  host.charge(gasAddressHash)
  const address = new Uint8Array(32)
  address[12] = 0xb2
  address[22] = variant
  address.set(keccak256Of(bytesOf(creator), bytesOf(salt)).subarray(0, 9), 23)
  return readWord(newWord(), address, 0)
}

const structNames = { asset: 'B20AssetCreateParams', stablecoin: 'B20StablecoinCreateParams' } as const

/** What the parameters of a creation say, after their checks. */
type Creation = { readonly variant: TokenVariant; readonly args: Args; readonly decimals: number }

function creationOf({ rules, host }: Frame, variant: TokenVariant, params: Uint8Array): Creation {
  const types = variant === 'asset' ? assetParams : stablecoinParams
  const args = Args.ofStruct(types, callDataOf(params))
  if (args.failure !== undefined) throw malformed(rules, host, types, args, structNames[variant])
  const version = args.number(0)
  if (version !== paramsVersion) throw unsupportedVersion(version, variantNumber(variant))
  const decimals = variant === 'asset' ? args.number(4) : stablecoinDecimals
  if (decimals < minAssetDecimals || decimals > maxAssetDecimals) throw invalidDecimals(decimals)
  return { variant, args, decimals }
}

/** Runs a call to the new token with the factory's rights. Errors of the token pass; a revert without a cause names the call. */
function runInitCall(frame: TokenFrame, data: CallData, index: number): void {
  try {
    tokenFunctions(frame.rules, frame.variant).call(frame, data)
  } catch (error) {
    if (error instanceof NativeRevert && (error.reason === 'silent' || error.reason === 'undecodable')) throw initCallFailed(index)
    throw error
  }
}

function emitCreated(host: NativeHost, token: Word, { variant, args, decimals }: Creation): void {
  const number = wordOf(variantNumber(variant))
  const extra = variant === 'asset' ? emptyBytes : currencyParams(args.bytes(4))
  b20Created.emit(host, host.self, [token, number], args.bytes(1), args.bytes(2), decimals, extra)
}

function createB20(frame: Frame, args: Args): Uint8Array {
  const { host, rules } = frame
  const variant: TokenVariant = args.number(0) === 0 ? 'asset' : 'stablecoin'
  const token = tokenAddress(host, args.number(0), host.caller, args.word(1))
  requireActivated(host, rules, variant === 'asset' ? assetFeature : stablecoinFeature)
  const creation = creationOf(frame, variant, args.bytes(2))
  const account = createAccount(host, token)
  const tokenFrame = new TokenFrame(host, rules, variant, token, account, host.selfAddress, true)
  const [name, symbol] = [creation.args.bytes(1), creation.args.bytes(2)]
  if (variant === 'asset') initializeAsset(tokenFrame, name, symbol, creation.decimals)
  else initializeStablecoin(tokenFrame, name, symbol, creation.args.bytes(4))
  emitCreated(host, token, creation)
  const admin = creation.args.word(3)
  if (!isZero(admin)) addRole(tokenFrame, defaultAdminRole, admin)
  for (let i = 0; i < args.count(3); i++) {
    host.interrupt()
    runInitCall(tokenFrame, args.blobData(3, i), i)
  }
  return asWord(token)
}

function createAccount(host: NativeHost, token: Word): AccountHandle {
  if (host.codeKind(token) !== 'none') throw tokenAlreadyExists(token)
  const account = host.account(token)
  host.setMarker(account)
  return account
}

const functions = [
  nativeFunction('createB20(enum<2>,bytes32,bytes,bytes[])', createB20),
  nativeFunction('getB20Address(enum<2>,address,bytes32)', ({ host }: Frame, args) =>
    asWord(tokenAddress(host, args.number(0), args.word(1), args.word(2))),
  ),
  nativeFunction('isB20(address)', (_: Frame, args) => asFlag(isTokenAddress(args.word(0)))),
  nativeFunction('isB20Initialized(address)', ({ host }: Frame, args) =>
    asFlag(isTokenAddress(args.word(0)) && host.codeKind(args.word(0)) === 'marker'),
  ),
]

const tables = new WeakMap<NativeRules, FunctionTable<Frame>>()
/** Smallest arguments of the interface's functions: V1 decodes no shorter ones. */
const leastBytes = 32

/** Runs a call of the factory, which creates tokens. */
export function runFactory(host: NativeHost, rules: NativeRules): Uint8Array {
  let table = tables.get(rules)
  if (!table) {
    table = new FunctionTable<Frame>(rules, 'IB20FactoryCalls', leastBytes, functions)
    tables.set(rules, table)
  }
  return table.call({ host, rules }, host)
}
