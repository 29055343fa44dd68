/** Linear memory of one frame. `size` counts whole words; `bytes` may be longer and is zero beyond `size`. */
export type Memory = { bytes: Uint8Array; view: DataView; size: number }

/** Largest EVM memory. More costs at least 2^45 gas, so it always ends as out of gas. */
export const maxMemoryBytes = 2 ** 32
const keptBytes = 2 ** 18

export function createMemory(): Memory {
  const bytes = new Uint8Array(1024)
  return { bytes, view: new DataView(bytes.buffer), size: 0 }
}

/** Clears the memory of an ended frame for reuse. */
export function clearMemory(memory: Memory): void {
  if (memory.bytes.length > keptBytes) Object.assign(memory, createMemory())
  else memory.bytes.fill(0, 0, memory.size)
  memory.size = 0
}

/** Extends the memory to `size` bytes of whole words. */
export function growMemory(memory: Memory, size: number): void {
  memory.size = size
  if (size <= memory.bytes.length) return
  const bytes = new Uint8Array(Math.min(maxMemoryBytes, Math.max(size, memory.bytes.length * 2)))
  bytes.set(memory.bytes)
  memory.bytes = bytes
  memory.view = new DataView(bytes.buffer)
}
