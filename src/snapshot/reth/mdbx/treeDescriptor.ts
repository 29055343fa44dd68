import { u16Le, u32Le, u64Le } from '../littleEndian.ts'

/** Bytes of a descriptor, in a meta page or as the data of a node. */
const descriptorBytes = 48
/** Root of a tree without entries. */
const noPage = 0xffff_ffff
/** Levels of the highest tree that the other client's cursors can walk. */
const maxLevels = 32

/** Position and shape of one B+tree. */
export type TreeDescriptor = {
  /** Bits: 4 several values a key, 0x10 values of one size, others change the order of keys. */
  readonly flags: number
  /** Levels, leaves included. 0: no entries. */
  readonly levels: number
  /** Bytes of each value, when all have the same size. */
  readonly fixedBytes: number
  readonly root: number
  /** Entries; in a table with several values a key, the number of values. */
  readonly items: number
}

/** Decodes the descriptor at `at`. Returns undefined when its parts contradict each other. */
export function decodeDescriptor(bytes: Uint8Array, at = 0): TreeDescriptor | undefined {
  if (at + descriptorBytes > bytes.length) return undefined
  const levels = u16Le(bytes, at + 2)
  const root = u32Le(bytes, at + 8)
  const items = u64Le(bytes, at + 32)
  const isEmpty = root === noPage
  if (levels > maxLevels || isEmpty !== (levels === 0) || isEmpty !== (items === 0)) return undefined
  return { flags: u16Le(bytes, at), levels, fixedBytes: u32Le(bytes, at + 4), root, items }
}
