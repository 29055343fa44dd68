import { keccak256 } from '#lib/keccak'
import { hashFromBytes } from '#types/ids'

/** Code of native accounts. */
export const markerCode: Uint8Array = new Uint8Array([0xef])
const markerHashBytes = keccak256(markerCode)
export const markerHash = hashFromBytes(markerHashBytes)

/** Gas to set the marker: 200 for its byte; for an account without code also the creation and the hash. */
export const markerGas = 200
export const newAccountMarkerGas = 32_236

/** The marker's hash as u32 numbers of linear memory. */
export const markerHashLimbs: Uint32Array = new Uint32Array(markerHashBytes.slice().buffer)
