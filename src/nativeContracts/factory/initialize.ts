import { encodeArguments, paramsOf } from '../kit/abi.ts'
import { contractError } from '../kit/ends.ts'
import { textBytes } from '../kit/results.ts'
import { newWord, wordOf } from '../kit/word.ts'
import { assetFields, stablecoinFields, tokenFields } from '../token/fields.ts'
import type { TokenFrame } from '../token/frame.ts'

const missingRequiredField = contractError('MissingRequiredField(string)')
const invalidCurrency = contractError('InvalidCurrency(string)')

const maxSupplyCap = wordOf(2n ** 128n - 1n)
const unset = newWord()

function initializeCommon({ storage }: TokenFrame, name: Uint8Array, symbol: Uint8Array): void {
  storage.writeText(tokenFields.name, name)
  storage.writeText(tokenFields.symbol, symbol)
  storage.write(tokenFields.supplyCap, maxSupplyCap)
}

export function initializeAsset(frame: TokenFrame, name: Uint8Array, symbol: Uint8Array, decimals: number): void {
  initializeCommon(frame, name, symbol)
  frame.storage.write(assetFields.decimals, wordOf(decimals))
  frame.storage.write(assetFields.multiplier, unset)
}

const isUpperCase = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a

export function initializeStablecoin(frame: TokenFrame, name: Uint8Array, symbol: Uint8Array, currency: Uint8Array): void {
  if (currency.length === 0) throw missingRequiredField(textBytes('currency'))
  if (!currency.every(isUpperCase)) throw invalidCurrency(currency)
  initializeCommon(frame, name, symbol)
  frame.storage.writeText(stablecoinFields.currency, currency)
}

const currencyStruct = paramsOf('currency(uint8,string)')
const structOffset = wordOf(32)

/** Returns the parameters of a stablecoin for the event: a struct of version 1 and the currency. */
export function currencyParams(currency: Uint8Array): Uint8Array {
  const offset = encodeArguments(paramsOf('offset(uint256)'), [structOffset])
  return encodeArguments(currencyStruct, [1, currency], offset)
}
