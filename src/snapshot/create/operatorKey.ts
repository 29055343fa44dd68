import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage, isFault } from '#lib/fault'
import { snapshotFault } from '../faults.ts'

/**
 * Reads the ed25519 key that signs manifests, PEM in PKCS 8. A file that does not exist is created (mode 0600).
 * @throws Fault SNAPSHOT_KEY_BAD (fatal); it does not contain the key
 */
export function operatorKey(path: string): KeyObject {
  const bad = (reason: string, cause?: unknown): Error => snapshotFault('SNAPSHOT_KEY_BAD', { path, reason }, cause)
  try {
    if (!existsSync(path)) return makeKey(path)
    const { mode } = statSync(path)
    if ((mode & 0o077) !== 0) throw bad(`others may read it (mode ${(mode & 0o777).toString(8)})`)
    const key = createPrivateKey(readFileSync(path))
    if (key.asymmetricKeyType !== 'ed25519') throw bad(`its type is ${key.asymmetricKeyType}, expected ed25519`)
    return key
  } catch (error) {
    throw isFault(error) ? error : bad(errorMessage(error), error)
  }
}

function makeKey(path: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
  chmodSync(path, 0o600)
  return privateKey
}
