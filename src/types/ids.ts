import { fromHexFixed, type Hex, toHex } from '#lib/hex'

declare const hashBrand: unique symbol
declare const addressBrand: unique symbol

/** 32 bytes as lower-case hex: hash of a block, transaction, state or code, or a topic. Comparable with `===`. */
export type Hash = Hex & { readonly [hashBrand]: true }
/** 20 bytes as lower-case hex (no checksum capitals). Comparable with `===`. */
export type Address = Hex & { readonly [addressBrand]: true }

export const zeroHash = `0x${'00'.repeat(32)}` as Hash
export const zeroAddress = `0x${'00'.repeat(20)}` as Address
/** Keccak of the empty byte string: the code hash of an account without code. */
export const emptyCodeHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470' as Hash
/** Root of an empty trie. */
export const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash
/** Keccak of the RLP of an empty ommers list. */
export const emptyOmmersHash = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347' as Hash
/** SHA-256 of the empty byte string: the requests hash of a block without requests (EIP-7685). */
export const emptyRequestsHash = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' as Hash

/** Converts bytes to a Hash; throws SyntaxError unless there are 32. */
export function hashFromBytes(bytes: Uint8Array): Hash {
  if (bytes.length !== 32) throw new SyntaxError(`32 bytes expected, ${bytes.length} found`)
  return toHex(bytes) as Hash
}

/** Converts bytes to an Address; throws SyntaxError unless there are 20. */
export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== 20) throw new SyntaxError(`20 bytes expected, ${bytes.length} found`)
  return toHex(bytes) as Address
}

/** Parses untrusted text of any letter case; throws SyntaxError unless it is 32 hex bytes. */
export function parseHash(text: string): Hash {
  return hashFromBytes(fromHexFixed(text, 32))
}

/** Parses untrusted text of any letter case; throws SyntaxError unless it is 20 hex bytes. */
export function parseAddress(text: string): Address {
  return addressFromBytes(fromHexFixed(text, 20))
}
