import { concatBytes, emptyBytes, padLeft } from '#lib/bytes'
import { keccak256, keccak256Text } from '#lib/keccak'
import { recoverAddress } from '#lib/secp256k1'
import { encodeArguments, paramsOf } from '../kit/abi.ts'
import type { Args } from '../kit/args.ts'
import { nativeFunction } from '../kit/functions.ts'
import { asWord, textBytes } from '../kit/results.ts'
import { addNumber, bytesOf, isEqual, newWord, type Word, wordOfBytes } from '../kit/word.ts'
import { expiredSignature, invalidSigner } from './errors.ts'
import { tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { setAllowance } from './transfers.ts'

const domainType = wordOfBytes(keccak256Text('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'))
const permitType = wordOfBytes(keccak256Text('Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)'))
const domainVersion = textBytes('1')
/** Fields of the domain that are set: name, version, chain id, contract (ERC-5267). */
const domainFields = new Uint8Array(32)
domainFields[0] = 0x0f

const gasKeccak = 30
const gasKeccakWord = 6
const gasRecovery = 3_000

/** Hashes; from Cobalt on the hash costs gas. */
function hash(frame: TokenFrame, data: Uint8Array): Uint8Array {
  if (frame.rules.metersPermit) frame.host.charge(gasKeccak + gasKeccakWord * ((data.length + 31) >> 5))
  return keccak256(data)
}

const words = (...list: readonly Word[]): Uint8Array => concatBytes(...list.map(bytesOf))

/** Returns the separator of the token's domain (EIP-712). */
function domainSeparator(frame: TokenFrame): Uint8Array {
  const name = frame.storage.readText(tokenFields.name)
  const [nameHash, versionHash] = [wordOfBytes(hash(frame, name)), wordOfBytes(hash(frame, domainVersion))]
  return hash(frame, words(domainType, nameHash, versionHash, frame.host.chainId, frame.token))
}

const noSigner = newWord()

/** Returns the signer of a digest, or zero. @param v 27 or 28; other values have no signer */
function signerOf(frame: TokenFrame, digest: Uint8Array, v: number, signature: Uint8Array): Word {
  if (frame.rules.metersPermit) frame.host.charge(gasRecovery)
  if (v !== 27 && v !== 28) return noSigner
  const address = recoverAddress(digest, signature, v === 27 ? 0 : 1)
  return address === undefined ? noSigner : wordOfBytes(padLeft(address, 32))
}

const slot = newWord()
const typedData = new Uint8Array([0x19, 0x01])

function permit(frame: TokenFrame, args: Args): Uint8Array {
  const [owner, spender, value, deadline] = [args.word(0), args.word(1), args.word(2), args.word(3)]
  const { storage, host } = frame
  if (isPast(deadline, host.timestamp)) throw expiredSignature(deadline)
  const domain = domainSeparator(frame)
  const nonce = storage.read(tokenFields.nonces.slot(slot, owner))
  const struct = hash(frame, words(permitType, owner, spender, value, nonce, deadline))
  const digest = hash(frame, concatBytes(typedData, domain, struct))
  const signer = signerOf(frame, digest, args.number(4), words(args.word(5), args.word(6)))
  if (signer === noSigner || !isEqual(signer, owner)) throw invalidSigner(signer, owner)
  storage.read(tokenFields.nonces.slot(slot, owner), nonce)
  storage.write(slot, addNumber(nonce, nonce, 1))
  setAllowance(frame, owner, spender, value)
  return emptyBytes
}

function isPast(deadline: Word, timestamp: bigint): boolean {
  for (let i = 2; i < 8; i++) if (deadline[i] !== 0) return false
  return timestamp > BigInt(deadline[0] as number) + (BigInt(deadline[1] as number) << 32n)
}

const domainParams = paramsOf('eip712Domain(bytes32,string,string,uint256,address,bytes32,uint256[])')

function eip712Domain(frame: TokenFrame): Uint8Array {
  const name = frame.storage.readText(tokenFields.name)
  return encodeArguments(domainParams, [domainFields, name, domainVersion, frame.host.chainId, frame.token, 0, []])
}

export const permitFunctions = [
  nativeFunction('permit(address,address,uint256,uint256,uint8,bytes32,bytes32)', permit),
  nativeFunction('nonces(address)', ({ storage }: TokenFrame, args) => asWord(storage.read(tokenFields.nonces.slot(slot, args.word(0))))),
  nativeFunction('DOMAIN_SEPARATOR()', (frame: TokenFrame) => domainSeparator(frame)),
  nativeFunction('eip712Domain()', eip712Domain),
]
