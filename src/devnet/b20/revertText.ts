import { fromHex, toHex } from '#lib/hex'
import { declaredError } from '#nativeContracts/declaredErrors'
import { type DecodedValue, decodeArguments } from '../abi.ts'
import { nameOfHash } from './names.ts'

/** Longest revert data that is decoded, in hex digits; each error of these contracts is far shorter. */
const maxDigits = 20_000

function textOf(value: DecodedValue): string {
  if (typeof value === 'string') return /^0x[0-9a-f]*$/.test(value) ? (nameOfHash(value) ?? value) : JSON.stringify(value)
  return value instanceof Uint8Array ? toHex(value) : String(value)
}

/** Returns `InsufficientBalance(0x…, 0, 5)` for the data of an error response; undefined: it is no error of a native contract. */
export function revertText(data: unknown): string | undefined {
  if (typeof data !== 'string' || data.length > maxDigits || !/^0x(?:[0-9a-f]{2}){4,}$/i.test(data)) return undefined
  const bytes = fromHex(data)
  const declaration = declaredError(bytes)
  const values = declaration === undefined ? undefined : decodeArguments(declaration, bytes.slice(4))
  if (declaration === undefined || values === undefined) return undefined
  return `${declaration.slice(0, declaration.indexOf('('))}(${values.map(textOf).join(', ')})`
}
