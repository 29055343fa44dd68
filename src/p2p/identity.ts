import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { addressOfKey } from '#lib/secp256k1'
import { p2pFault } from './faults.ts'

/**
 * Parses a secp256k1 key: 64 hex digits.
 * @param file name for the fault; the text itself is not in it
 * @throws Fault P2P_KEY (fatal)
 */
function parseKey(text: string, file: string): Uint8Array {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text.trim()) ?? []
  if (digits === undefined) throw p2pFault('P2P_KEY', { file, reason: `${text.trim().length} characters are not 64 hex digits` })
  const key = fromHex(`0x${digits.toLowerCase()}`)
  try {
    addressOfKey(key)
  } catch (error) {
    throw p2pFault('P2P_KEY', { file, reason: 'not a key of secp256k1' }, error)
  }
  return key
}

/** Reads a key file. @throws Fault P2P_KEY (fatal) */
export function readKey(file: string): Uint8Array {
  try {
    return parseKey(readFileSync(file, 'latin1').slice(0, 1_024), file)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'P2P_KEY') throw error
    throw p2pFault('P2P_KEY', { file, reason: errorMessage(error) }, error)
  }
}

/** Reads the identity key of the node; makes it, with mode 0600, at the first start. @throws Fault P2P_KEY (fatal) */
export function openIdentity(file: string): Uint8Array {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw p2pFault('P2P_KEY', { file, reason: errorMessage(error) }, error)
  }
  return readKey(file)
}
