/** Places for the tests of a file, removed after each test. */
import { afterEach } from "bun:test";
import { makePlace, type Place } from "./tree.ts";

/** Called once at the top of a test file; the result makes a place with these files in it. */
export function usePlaces(): (files?: Readonly<Record<string, string>>) => Place {
  const places: Place[] = [];
  afterEach(() => {
    for (const made of places.splice(0)) made.remove();
  });
  return (files = {}) => {
    const made = makePlace(files);
    places.push(made);
    return made;
  };
}
